/** The contract's limits, checked alike by every implementation before anything else happens. */
import { OBJECT_LIMITS, type GetOptions, type ListOptions } from "./contract.ts";
import { rejected, type ObjectError } from "./errors.ts";
import { checkKey, checkPrefix } from "./keys.ts";

export function checkBody(key: string, bytes: Uint8Array): void {
  checkKey(key);
  if (bytes.length > OBJECT_LIMITS.bodyBytesMax)
    throw rejected(
      `${bytes.length} bytes are too many for one put, of at most ${OBJECT_LIMITS.bodyBytesMax}: use putStream`,
    );
}

export function checkRange(key: string, offset: number, lengthBytes: number): void {
  checkKey(key);
  if (!Number.isSafeInteger(offset) || offset < 0) throw rejected(`${offset} is not an offset in an object`);
  if (!Number.isSafeInteger(lengthBytes) || lengthBytes < 0 || lengthBytes > OBJECT_LIMITS.bodyBytesMax)
    throw rejected(`a range has 0 to ${OBJECT_LIMITS.bodyBytesMax} bytes, not ${lengthBytes}`);
}

export function checkKeys(keys: readonly string[]): void {
  if (keys.length > OBJECT_LIMITS.deleteKeysMax)
    throw rejected(
      `${keys.length} keys are too many for one call, of at most ${OBJECT_LIMITS.deleteKeysMax}`,
    );
  for (const key of keys) checkKey(key);
}

/** The page size to use. */
export function checkList(
  prefix: string,
  { after, limit = OBJECT_LIMITS.listLimitMax }: ListOptions,
): number {
  checkPrefix(prefix);
  if (after !== undefined) checkPrefix(after);
  if (!Number.isSafeInteger(limit) || limit < 1 || limit > OBJECT_LIMITS.listLimitMax)
    throw rejected(`a page has 1 to ${OBJECT_LIMITS.listLimitMax} objects, not ${limit}`);
  return limit;
}

export function checkStreamBytes(key: string, sizeBytes: number): void {
  if (sizeBytes > OBJECT_LIMITS.streamBytesMax)
    throw rejected(
      `"${key}" is more than ${OBJECT_LIMITS.streamBytesMax} bytes long, the most an object may have`,
    );
}

export function tooLarge(key: string, sizeBytes: number, { bytesMax }: GetOptions): ObjectError | undefined {
  const most = Math.min(bytesMax ?? OBJECT_LIMITS.bodyBytesMax, OBJECT_LIMITS.bodyBytesMax);
  if (sizeBytes <= most) return undefined;
  return rejected(`"${key}" has ${sizeBytes} bytes, more than the ${most} asked for: read it by range`);
}
