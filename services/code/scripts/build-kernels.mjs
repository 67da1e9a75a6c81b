// Compiles assembly/ with AssemblyScript and writes it, as text, where the engine imports it: `node services/code/scripts/build-kernels.mjs`.
// The result is committed, so that nothing but tsc is needed to build; a test compiles again and compares.

import { writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import asc from "assemblyscript/asc";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const target = join(root, "src/engine/kernels/module.generated.ts");

/** The text of the generated file. */
export async function compileKernels() {
  let binary;
  const { error } = await asc.main(
    [
      join(root, "assembly/index.ts"),
      ..."--outFile kernels.wasm -O3 --noAssert --runtime stub --importMemory --noExportMemory --sharedMemory".split(
        " ",
      ),
      ..."--initialMemory 1 --maximumMemory 65536 --memoryBase 1024 --enable simd,threads,bulk-memory".split(
        " ",
      ),
    ],
    {
      writeFile: (name, contents) => {
        if (name.endsWith("kernels.wasm")) binary = contents;
      },
    },
  );
  if (error || binary === undefined)
    throw new Error("the kernels do not compile; run asc on assembly/index.ts to see why", { cause: error });
  const text = Buffer.from(binary).toString("base64");
  return `/** The kernels of assembly/, compiled. Written by scripts/build-kernels.mjs; do not edit. */\nexport const kernelsBase64 =\n  "${text}";\n`;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const text = await compileKernels();
  writeFileSync(target, text);
  process.stderr.write(`${target}: ${text.length} characters\n`);
}
