/** How long ago something was, and how much of something there is, in as few characters as a table has room for. */
export function ago(sinceMs: number, nowMs: number): string {
  return span(Math.max(0, nowMs - sinceMs));
}

export function span(ms: number): string {
  const seconds = Math.floor(ms / 1_000);
  if (seconds < 60) return `${seconds}s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes}m${seconds % 60 === 0 || minutes >= 10 ? "" : `${seconds % 60}s`}`;
  const hours = Math.floor(minutes / 60);
  if (hours < 48) return `${hours}h${minutes % 60 === 0 ? "" : `${minutes % 60}m`}`;
  return `${Math.floor(hours / 24)}d`;
}

export function bytes(count: number): string {
  if (count < 1_024) return `${count} B`;
  const units = ["KiB", "MiB", "GiB", "TiB"];
  let value = count / 1_024;
  let unit = 0;
  while (value >= 1_024 && unit < units.length - 1) {
    value /= 1_024;
    unit++;
  }
  return `${value < 10 ? value.toFixed(1) : Math.round(value)} ${units[unit]}`;
}

/** The time of day, to the second. */
export function timeOfDay(wall: number): string {
  return new Date(wall).toTimeString().slice(0, 8);
}

export function dateAndTime(wall: number): string {
  const date = new Date(wall);
  const two = (n: number): string => String(n).padStart(2, "0");
  return `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())} ${timeOfDay(wall)}`;
}
