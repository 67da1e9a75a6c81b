/**
 * What it costs to acknowledge from the journal: records a second, CPU per record and waiting time, with many, some and one record in flight; on files of a
 * temporary folder, and with `--s3` on a real Ceph RGW, beside plain put-if-absent of the same size. Waiting depends on the disk and on what else the machine does;
 * CPU per record hardly does.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { openJournal, openObjects, type Journal, type JournalTerms, type Objects } from "@keelson/objects";
import { SystemClock, systemRandom } from "@keelson/runtime";
import { ensureServers, startCephRgw } from "@keelson/testkit/servers";
import type { Bench, BenchContext } from "./bench.ts";
import { wholeNumber } from "./options.ts";

const STREAMS = 16;
const PUTS = 500;
const WARM_UP_PUTS = 200;
const clock = new SystemClock();
const ports = { clock, random: systemRandom };

const journal: Bench = {
  name: "journal",
  title: "appending to the journal in a folder; with --s3 also on Ceph RGW",
  async run(context) {
    const { values } = parseArgs({
      args: [...context.args],
      options: {
        records: { type: "string", default: "200000" },
        bytes: { type: "string", default: "200" },
        s3: { type: "boolean", default: false },
      },
    });
    const load = {
      records: wholeNumber("records", values.records),
      bytes: wholeNumber("bytes", values.bytes),
    };
    const figures = { ...load, ...(await inFolder(context, load)) };
    return { figures: values.s3 ? { ...figures, ...(await inS3(context, load)) } : figures, peers: {} };
  },
};

export default journal;

interface Load {
  readonly records: number;
  readonly bytes: number;
}

async function inFolder(context: BenchContext, load: Load): Promise<Record<string, number>> {
  const folder = mkdtempSync(join(tmpdir(), "keelson-bench-"));
  try {
    const objects = await openObjects(`file:${folder}`, { ...ports, environment: {} });
    const many = await appends(context, objects, load, 1_000);
    const some = await appends(context, objects, { ...load, records: load.records / 2 }, 100);
    const one = await appends(context, objects, { ...load, records: Math.min(2_000, load.records) }, 1);
    return { ...named("folder1000", many), ...named("folder100", some), ...named("folder1", one) };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function inS3(context: BenchContext, load: Load): Promise<Record<string, number>> {
  await ensureServers(["ceph"], context.progress);
  const server = await startCephRgw();
  try {
    const { accessKeyId, secretAccessKey, url } = server;
    const credentials = { accessKeyId, secretAccessKey };
    await server.createBucket("bench");
    const objects = await openObjects(`s3://bench/journal?endpoint=${url}`, {
      ...ports,
      environment: {},
      credentials: () => Promise.resolve(credentials),
    });
    const puts = await putLatency(context, objects);
    const many = await appends(context, objects, { ...load, records: load.records / 4 }, 1_000, {
      gatherMs: 0,
    });
    await objects.close();
    return { ...puts, ...named("s3x1000", many) };
  } finally {
    await server.stop();
  }
}

interface Measured {
  readonly perSec: number;
  readonly cpuUs: number;
  readonly flushes: number;
  readonly msP50: number;
  readonly msP99: number;
}

/** `inFlight` callers, each of which appends its next record when the last one is acknowledged. */
async function appends(
  context: BenchContext,
  objects: Objects,
  load: Load,
  inFlight: number,
  terms: Partial<JournalTerms> = {},
): Promise<Measured> {
  const opened = await openJournal(objects, {
    name: "bench",
    epoch: { era: 1, revision: 1 },
    ...ports,
    terms,
  });
  await drive(opened, { ...load, records: load.records / 10 }, inFlight);
  const before = opened.stats.batches;
  const [startedAt, cpu] = [performance.now(), process.cpuUsage()];
  const waits = await drive(opened, load, inFlight);
  const tookMs = performance.now() - startedAt;
  const { user, system } = process.cpuUsage(cpu);
  const measured = {
    perSec: Math.round((load.records * 1_000) / tookMs),
    cpuUs: round((user + system) / load.records),
    flushes: opened.stats.batches - before,
    msP50: round(waits[Math.floor(waits.length * 0.5)] ?? 0),
    msP99: round(waits[Math.floor(waits.length * 0.99)] ?? 0),
  };
  await opened.close();
  context.progress(`${objects.place}, ${inFlight} in flight: ${JSON.stringify(measured)}`);
  return measured;
}

/** Waiting times of every 16th record, sorted. */
async function drive(opened: Journal, { records, bytes }: Load, inFlight: number): Promise<number[]> {
  const record = Buffer.alloc(bytes, 7);
  const streams = Array.from({ length: STREAMS }, (_, n) =>
    opened.stream(`shard-${n}`, { era: 1, revision: 1 }),
  );
  const waits: number[] = [];
  let left = records;
  const append = async (stream = streams[0]): Promise<void> => {
    while (left-- > 0) {
      const startedAt = left % 16 === 0 ? performance.now() : 0;
      await stream?.append(record);
      if (startedAt > 0) waits.push(performance.now() - startedAt);
    }
  };
  await Promise.all(Array.from({ length: inFlight }, (_, n) => append(streams[n % STREAMS])));
  return waits.sort((a, b) => a - b);
}

async function putLatency(context: BenchContext, objects: Objects): Promise<Record<string, number>> {
  const body = Buffer.alloc(4096, 7);
  const waits: number[] = [];
  const put = (name: string) => objects.putIfAbsent(name, body, { timeoutMs: 10_000 });
  for (let n = 0; n < WARM_UP_PUTS; n += 1) await put(`warm-up/${n}`);
  const cpu = process.cpuUsage();
  for (let n = 0; n < PUTS; n += 1) {
    const startedAt = performance.now();
    await put(`put/${n}`);
    waits.push(performance.now() - startedAt);
  }
  const { user, system } = process.cpuUsage(cpu);
  waits.sort((a, b) => a - b);
  const measured = {
    s3PutMsP50: round(waits[Math.floor(PUTS * 0.5)] ?? 0),
    s3PutMsP99: round(waits[Math.floor(PUTS * 0.99)] ?? 0),
    s3PutCpuUs: round((user + system) / PUTS),
  };
  context.progress(`put-if-absent of 4 KiB, one at a time: ${JSON.stringify(measured)}`);
  return measured;
}

function named(name: string, { perSec, cpuUs, flushes, msP50, msP99 }: Measured): Record<string, number> {
  return {
    [`${name}PerSec`]: perSec,
    [`${name}CpuUs`]: cpuUs,
    [`${name}Flushes`]: flushes,
    [`${name}MsP50`]: msP50,
    [`${name}MsP99`]: msP99,
  };
}

function round(value: number): number {
  return Math.round(value * 100) / 100;
}
