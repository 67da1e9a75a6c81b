/** Why nobody holds a repository for which there is no room, in words that say what to do. Pure. */
export function whyUnheld(needsBytes: number, budgetsBytes: Iterable<number>): string {
  let largest = 0;
  for (const bytes of budgetsBytes) largest = Math.max(largest, bytes);
  const needs = `it needs about ${megabytes(needsBytes)} MB`;
  return needsBytes > largest
    ? `${needs}, and the largest node has ${megabytes(largest)} MB for indexes: give a node more memory, or remove it`
    : `${needs}, and no node has so much left: add nodes or memory, or remove what nobody needs`;
}

function megabytes(bytes: number): number {
  return Math.ceil(bytes / 2 ** 20);
}
