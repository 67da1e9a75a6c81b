/** The C library of this process, by whose words the system can be told about memory. Only glibc's is known here; it throws where there is another, or where the binding was not built for the platform. */
import { createRequire } from "node:module";
import type Koffi from "koffi";

let opened: Koffi.IKoffiLib | undefined;

export function openCLibrary(): Koffi.IKoffiLib {
  const koffi = createRequire(import.meta.url)("koffi") as typeof Koffi;
  return (opened ??= koffi.load("libc.so.6"));
}
