/** A real nginx as a plain proxy: one worker, connections kept open on both sides, nothing logged. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { ask } from "./ask.ts";
import { requireProgram } from "./debian.ts";
import { startOnFreePort } from "./retry-port.ts";
import { serverFolder, type TestServer } from "./server-process.ts";

/** `upstream` is the `host:port` that every request goes to. */
export async function startNginx({ upstream }: { readonly upstream: string }): Promise<TestServer> {
  const file = requireProgram("nginx", "nginx");
  return startOnFreePort((port) => {
    const folder = serverFolder("nginx");
    writeFileSync(join(folder, "nginx.conf"), configuration(folder, port, upstream));
    return {
      name: "nginx",
      url: `http://127.0.0.1:${port}`,
      port,
      folder,
      stopSignal: "SIGTERM",
      command: { file, args: ["-p", folder, "-c", join(folder, "nginx.conf"), "-e", "stderr"] },
      ready: async () => (await ask(port, "GET / HTTP/1.0\r\n\r\n")).toString().startsWith("HTTP/1.1"),
    };
  });
}

/** `master_process off` keeps it one process, whose CPU is easy to read. */
function configuration(folder: string, port: number, upstream: string): string {
  const bodies = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
    .map((name) => `  ${name}_temp_path ${folder}/${name};`)
    .join("\n");
  return `daemon off;
master_process off;
pid ${folder}/nginx.pid;
error_log stderr crit;
events { worker_connections 2048; }
http {
${bodies}
  access_log off;
  keepalive_timeout 65s;
  keepalive_requests 10000000;
  tcp_nodelay on;
  upstream node { server ${upstream}; keepalive 64; keepalive_requests 10000000; }
  server {
    listen 127.0.0.1:${port};
    location / {
      proxy_pass http://node;
      proxy_http_version 1.1;
      proxy_set_header Connection "";
    }
  }
}
`;
}
