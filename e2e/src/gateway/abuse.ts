/** Requests that should not be: each kind as the bytes that are sent, and the statuses with which it may be answered. */

export interface Abuse {
  readonly kind: string;
  readonly bytes: string | Buffer;
  /** Sent after the bytes, one piece at a time, this far apart. */
  readonly drip?: { readonly pieces: readonly string[]; readonly everyMs: number };
  /** The sender ends its side after the bytes. */
  readonly halfClose?: boolean;
  readonly statuses: readonly number[];
}

export interface AbuseTokens {
  readonly admin: string;
  readonly read: string;
  readonly tenant: string;
  readonly otherService: string;
  readonly expired: string;
}

type Random = () => number;

/** A request with a body or without. */
function request(
  line: string,
  headers: Readonly<Record<string, string>> = {},
  body = "",
  host = "host: keelson\r\n",
): string {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  const length = body === "" ? "" : `content-length: ${Buffer.byteLength(body)}\r\n`;
  return `${line} HTTP/1.1\r\n${host}${lines.join("")}${length}\r\n${body}`;
}

const JSON_TYPE = { "content-type": "application/json" };

/** Every kind there is, each a function of chance. */
export function abuses({
  admin,
  read,
  tenant,
  otherService,
  expired,
}: AbuseTokens): readonly ((random: Random) => Abuse)[] {
  const bearer = (token: string) => ({ authorization: `Bearer ${token}` });
  const ok = bearer(admin);
  const add = "POST /v1/counter/1/add";
  const of = (
    kind: string,
    statuses: readonly number[],
    make: (random: Random) => string | Buffer,
    more: Partial<Abuse> = {},
  ) => {
    return (random: Random): Abuse => ({ kind, statuses, bytes: make(random), ...more });
  };
  const text = (random: Random, length: number): string =>
    Array.from({ length }, () => String.fromCharCode(33 + Math.floor(random() * 90))).join("");
  return [
    of("valid read", [200], () => request("GET /v1/counter/1", ok)),
    of("valid write", [200], () => request(add, { ...ok, ...JSON_TYPE }, '{"by":1}')),
    of("valid scatter", [200], () => request("GET /v1/counter", bearer(read))),
    of("garbage", [400], (random) => `${text(random, 5 + Math.floor(random() * 200))}\r\n\r\n`),
    of("binary garbage", [400], (random) =>
      Buffer.from(Array.from({ length: 300 }, () => Math.floor(random() * 256))),
    ),
    of("TLS to a plain port", [400], () => Buffer.from("16030100c8010000c40303" + "ab".repeat(40), "hex")),
    of("HTTP/2 preface", [400], () => "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"),
    of("unknown method", [400], () => request("STEAL /v1/counter/1", ok)),
    of("CONNECT", [405], () => "CONNECT example:443 HTTP/1.1\r\nhost: example:443\r\n\r\n"),
    of("no host", [400], () => request("GET /v1/counter/1", ok, "", "")),
    of("bad content-length", [400], () => request(add, { ...ok, ...JSON_TYPE, "content-length": "1x" })),
    of("two content-lengths", [400], () =>
      request(add, { ...ok, ...JSON_TYPE, "Content-Length": "3" }, '{"by":1}'),
    ),
    of("length and chunks", [400], () =>
      request(add, { ...ok, ...JSON_TYPE, "transfer-encoding": "chunked" }, '{"by":1}'),
    ),
    of("odd transfer encoding", [400], () =>
      request(add, { ...ok, ...JSON_TYPE, "transfer-encoding": "chunked, identity" }),
    ),
    of(
      "bad chunk",
      [400],
      () => `${request(add, { ...ok, ...JSON_TYPE, "transfer-encoding": "chunked" })}zz\r\n`,
    ),
    of("folded header", [400], () => "GET / HTTP/1.1\r\nhost: k\r\nx: a\r\n b\r\n\r\n"),
    of("null in a header", [400], () => "GET / HTTP/1.1\r\nhost: k\r\nx: a\u0000b\r\n\r\n"),
    of("large header", [431], (random) =>
      request("GET /v1/counter/1", { ...ok, x: text(random, 20_000).replaceAll(":", ".") }),
    ),
    of("many headers", [431], () =>
      request(
        "GET /v1/counter/1",
        Object.fromEntries(Array.from({ length: 2_500 }, (_, i) => [`x-${i}`, "y"])),
      ),
    ),
    of("long path", [414], (random) =>
      request(`GET /${"a".repeat(8_200 + Math.floor(random() * 1_000))}`, ok),
    ),
    of("deep path", [404], () => request(`GET ${"/a".repeat(2_000)}`, ok)),
    of("unknown path", [404], (random) => request(`GET /${Math.floor(random() * 1e9).toString(36)}`, ok)),
    of("path out of the tree", [404], () => request("GET /docs/../../../etc/passwd", ok)),
    of("encoded path out of the tree", [404], () =>
      request("GET /v1/counter/%2e%2e%2f%2e%2e%2fetc%2fpasswd", ok),
    ),
    of("null in the path", [400, 404], () => request("GET /v1/counter/%00", ok)),
    of("bad encoding", [400], () => request("GET /v1/counter/%zz", ok)),
    of("absolute path", [400, 404], () => request("GET http://elsewhere/v1/counter/1", ok)),
    of("wrong verb", [405], () => request("DELETE /v1/counter/1", ok)),
    of("no such shard", [404], () => request("GET /v1/counter/77", ok)),
    of("no token", [401], () => request("GET /v1/counter/1")),
    of("empty token", [401], () => request("GET /v1/counter/1", { authorization: "Bearer " })),
    of("other scheme", [401], () => request("GET /v1/counter/1", { authorization: `Basic ${admin}` })),
    of("made-up token", [401], (random) =>
      request("GET /v1/counter/1", bearer(`keelson_${text(random, 30).replaceAll(" ", "")}`)),
    ),
    of("token with another secret", [401], () =>
      request("GET /v1/counter/1", bearer(`${admin.slice(0, -5)}AAAAA`)),
    ),
    of("expired token", [401], () => request("GET /v1/counter/1", bearer(expired))),
    of("long token", [401], () => request("GET /v1/counter/1", bearer("k".repeat(5_000)))),
    of("read token that writes", [403], () => request(add, { ...bearer(read), ...JSON_TYPE }, '{"by":1}')),
    of("tenant's token for all", [403], () => request("GET /v1/counter/1", bearer(tenant))),
    of("other service's token", [403], () => request("GET /v1/counter/1", bearer(otherService))),
    of("metrics without a token", [401], () => request("GET /metrics")),
    of("no body", [400], () => request(add, ok)),
    of("broken JSON", [400], () => request(add, { ...ok, ...JSON_TYPE }, '{"by":1')),
    of("deep JSON", [400, 413], () => request(add, { ...ok, ...JSON_TYPE }, "[".repeat(100_000))),
    of("wrong type", [400], () => request(add, { ...ok, ...JSON_TYPE }, '{"by":"1"}')),
    of("prototype in JSON", [400], () => request(add, { ...ok, ...JSON_TYPE }, '{"__proto__":{"by":1}}')),
    of("unsafe number", [400], () => request(add, { ...ok, ...JSON_TYPE }, '{"by":1e300}')),
    of("text body", [415], () => request(add, { ...ok, "content-type": "text/plain" }, "by=1")),
    of("compressed body", [415], () =>
      request(add, { ...ok, ...JSON_TYPE, "content-encoding": "gzip" }, '{"by":1}'),
    ),
    of("large body", [413], () =>
      request(add, { ...ok, ...JSON_TYPE }, `{"by":1,"x":"${"y".repeat(1_500_000)}"}`),
    ),
    of(
      "large chunked body",
      [413],
      () =>
        `${request(add, { ...ok, ...JSON_TYPE, "transfer-encoding": "chunked" })}${"fffff\r\n" + "y".repeat(0xf_ff_ff) + "\r\n"}`.repeat(
          1,
        ) + `fffff\r\n${"y".repeat(0xf_ff_ff)}\r\n0\r\n\r\n`,
    ),
    of("large announced body", [413], () =>
      request(add, { ...ok, ...JSON_TYPE, "content-length": "9999999999" }),
    ),
    of("expectation", [417], () =>
      request(add, { ...ok, ...JSON_TYPE, expect: "the impossible" }, '{"by":1}'),
    ),
    of("bad timeout", [400], () => request("GET /v1/counter/1", { ...ok, "keelson-timeout-ms": "-5" })),
    of("bad trace", [200], (random) =>
      request("GET /v1/counter/1", { ...ok, traceparent: text(random, 60) }),
    ),
    of("odd query", [200], () => request("GET /v1/counter/1?__proto__=1&constructor=2&a=1&a=2&%ff", ok)),
    of("half a request", [400], () => "GET /v1/counter/1 HTTP/1.1\r\nhost: k\r\n", { halfClose: true }),
    of("half a body", [400, 408], () => request(add, { ...ok, ...JSON_TYPE, "content-length": "50" }), {
      halfClose: true,
    }),
  ];
}

/** What takes as long as the limits allow; few of these are sent. */
export function slowAbuses({ admin }: AbuseTokens): readonly Abuse[] {
  const authorization = `Bearer ${admin}`;
  return [
    { kind: "nothing at all", bytes: "GET", statuses: [408] },
    {
      kind: "slow headers",
      bytes: "GET /v1/counter/1 HTTP/1.1\r\nhost: k\r\n",
      drip: { pieces: Array.from({ length: 40 }, (_, i) => `x-${i}: y\r\n`), everyMs: 200 },
      statuses: [408],
    },
    {
      kind: "slow body",
      bytes: request("POST /v1/counter/1/add", { authorization, ...JSON_TYPE, "content-length": "1000" }),
      drip: { pieces: Array.from({ length: 40 }, () => " "), everyMs: 200 },
      statuses: [408],
    },
  ];
}
