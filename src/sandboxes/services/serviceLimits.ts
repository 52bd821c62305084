/** How long the requests to a service may take. */
export interface ServiceLimits {
  /** One request, retries included. */
  readonly requestTimeoutMs: number;
  /** Making a sandbox, retries included. */
  readonly createTimeoutMs: number;
}

export const REQUEST_TIMEOUT_MS = 20_000;
const CREATE_TIMEOUT_MS = 120_000;

/** The limits among the options, with defaults. */
export const serviceLimits = ({
  requestTimeoutMs = REQUEST_TIMEOUT_MS,
  createTimeoutMs = CREATE_TIMEOUT_MS,
}: Partial<ServiceLimits>): ServiceLimits => ({ requestTimeoutMs, createTimeoutMs });
