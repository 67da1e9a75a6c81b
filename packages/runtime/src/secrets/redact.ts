/**
 * Takes secrets out of text that is about to be written down: a log, an audit, an error. It knows what Keelson's own tokens, keys as PEM, passwords in addresses, and the
 * usual names of secrets look like. It is the last line of defence, not the first: what writes a log should not have a secret in hand.
 */

const HIDDEN = "[hidden]";

const RULES: readonly (readonly [RegExp, string])[] = [
  // The id of a token is no secret, and finds its record.
  [/\bkeelson_([0-9a-f]{16})_[A-Za-z0-9_-]{20,}/g, `keelson_$1_${HIDDEN}`],
  [/-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]*PRIVATE KEY-----|$)/g, HIDDEN],
  [/\b(bearer|basic)(\s+)[A-Za-z0-9+/_.~=-]{8,}/gi, `$1$2${HIDDEN}`],
  // user:password@ in an address, and a token that stands alone before the @. What comes before is looked back at, one character far: to match it too would take the square of a text's length.
  [/(?<=[a-z0-9+.-]:\/\/)([^\s/:@"'\\]*):([^\s/@"'\\]*)@/gi, `$1:${HIDDEN}@`],
  [/\b(https?:\/\/)[^\s/:@"'\\]{20,}@/gi, `$1${HIDDEN}@`],
  // name=value and "name": "value".
  [
    /(?<![a-z0-9])((?:password|passwd|secret|api[_-]?key|access[_-]?key|private[_-]?key|auth[_-]?token|access[_-]?token|token|credential)s?)(\\?["']?\s*[=:]\s*\\?["']?)(?!\[hidden\])([^\s"'&,;\\}\]]{6,})/gi,
    `$1$2${HIDDEN}`,
  ],
];

/** Longer text is cut first: patterns over megabytes would stall the process that logs. */
const CHARS_MAX = 65_536;

export function redact(text: string): string {
  let safe = text.length > CHARS_MAX ? `${text.slice(0, CHARS_MAX)}…` : text;
  for (const [pattern, replacement] of RULES) safe = safe.replace(pattern, replacement);
  return safe;
}
