import { Protocol } from "@modelcontextprotocol/sdk/shared/protocol.js";
import {
  ErrorCode,
  type Implementation,
  InitializeRequestSchema,
  LATEST_PROTOCOL_VERSION,
  McpError,
  type ServerNotification,
  type ServerRequest,
  type ServerResult,
  SUPPORTED_PROTOCOL_VERSIONS,
} from "@modelcontextprotocol/sdk/types.js";

/**
 * The server's side of the protocol, for a server that has tools and sends its client no requests. The SDK's own class includes a
 * validator of JSON schemas for the answers to such requests, which is twice its own size.
 */
export class ToolServer extends Protocol<ServerRequest, ServerNotification, ServerResult> {
  constructor(serverInfo: Implementation, instructions: string) {
    super();
    this.setRequestHandler(InitializeRequestSchema, ({ params: { protocolVersion } }) => ({
      protocolVersion: SUPPORTED_PROTOCOL_VERSIONS.includes(protocolVersion)
        ? protocolVersion
        : LATEST_PROTOCOL_VERSION,
      capabilities: { tools: {} },
      serverInfo,
      instructions,
    }));
  }

  // Every handler belongs to the announced capabilities, and nothing else is ever sent.
  protected override assertCapabilityForMethod(): void {}
  protected override assertNotificationCapability(): void {}
  protected override assertRequestHandlerCapability(): void {}
  protected override assertTaskCapability(): void {}
  protected override assertTaskHandlerCapability(method: string): void {
    throw new McpError(ErrorCode.InvalidRequest, `${method} cannot run as a task: leave "task" out.`);
  }
}
