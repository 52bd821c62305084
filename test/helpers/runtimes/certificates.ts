import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** An authority of our own, with a certificate for 127.0.0.1 and one for a client; the latter as Docker's client wants it. */
export const makeCertificates = (directory: string) => {
  const openssl = (...args: string[]) => execFileSync("openssl", args, { cwd: directory, stdio: "pipe" });
  const newKey = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"];
  const clientPath = join(directory, "client");
  mkdirSync(clientPath);
  openssl("req", "-x509", ...newKey, "-keyout", "ca.key", "-out", "client/ca.pem", "-subj", "/CN=authority");
  const sign = (name: string, key: string, certificate: string, extensions: string) => {
    openssl("req", ...newKey, "-keyout", key, "-out", `${name}.csr`, "-subj", `/CN=${name}`);
    writeFileSync(join(directory, `${name}.ext`), extensions);
    const authority = ["-CA", "client/ca.pem", "-CAkey", "ca.key", "-CAcreateserial"];
    openssl(
      "x509",
      "-req",
      "-in",
      `${name}.csr`,
      ...authority,
      "-extfile",
      `${name}.ext`,
      "-out",
      certificate,
    );
  };
  sign("server", "server.key", "server.pem", "subjectAltName=IP:127.0.0.1\nextendedKeyUsage=serverAuth\n");
  sign("client", "client/key.pem", "client/cert.pem", "extendedKeyUsage=clientAuth\n");
  const read = (name: string) => readFileSync(join(directory, name));
  return {
    /** What `DOCKER_CERT_PATH` is to be. */
    clientPath,
    ofServer: { key: read("server.key"), cert: read("server.pem"), ca: read("client/ca.pem") },
  };
};
