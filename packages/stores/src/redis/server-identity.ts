/** Reads what Redis says of itself, and refuses to work with one that cannot keep the contract. */
import { RedisFailure } from "./failure.ts";

/** Scripts with flags came with it. */
const MAJOR_MIN = 7;

/** The process's run id, from the reply to INFO. Throws a RedisFailure that says what is wrong with this Redis. */
export function serverIdentity(info: string): string {
  const field = (name: string): string | undefined => new RegExp(`^${name}:(.*?)\r?$`, "m").exec(info)?.[1];
  const version = field("redis_version") ?? "unknown";
  if (!(Number.parseInt(version, 10) >= MAJOR_MIN))
    throw new RedisFailure(`it is Redis ${version}: version ${MAJOR_MIN} or later is needed`, false);
  if (field("role") !== "master")
    throw new RedisFailure("it is a replica: name the primary's address", false);
  const policy = field("maxmemory_policy") ?? "noeviction";
  if (policy.startsWith("allkeys") && field("maxmemory") !== "0")
    throw new RedisFailure(
      `it may throw our keys away (maxmemory-policy ${policy}): set it to noeviction`,
      false,
    );
  const runId = field("run_id");
  if (runId === undefined || !/^[0-9a-f]{40}$/.test(runId))
    throw new RedisFailure("it does not say which process it is (run_id in INFO)", false);
  return runId;
}
