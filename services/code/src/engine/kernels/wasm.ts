/** The few parts of WebAssembly that the engine uses, typed: neither Node's types nor ES2023's have them. */

/** Shared memory of a fixed size. Pages that were never written cost address space, not memory. */
export interface WasmMemory {
  readonly buffer: SharedArrayBuffer;
}

interface WasmApi {
  readonly Memory: new (terms: { initial: number; maximum: number; shared: true }) => WasmMemory;
  readonly Module: new (bytes: Uint8Array) => object;
  readonly Instance: new (
    module: object,
    imports: { env: { memory: WasmMemory; abort: () => void } },
  ) => { readonly exports: unknown };
}

const { WebAssembly: wasm } = globalThis as unknown as { WebAssembly: WasmApi };

const PAGE_BYTES = 65_536;

/** The most that one memory can address, less its last page: an end address must fit in 32 bits. */
export const WASM_MEMORY_BYTES_MAX = 65_535 * PAGE_BYTES;

export function createMemory(bytes: number): WasmMemory {
  const pages = Math.ceil(bytes / PAGE_BYTES);
  return new wasm.Memory({ initial: pages, maximum: pages, shared: true });
}

export function compileModule(bytes: Uint8Array): object {
  return new wasm.Module(bytes);
}

export function instantiate(module: object, memory: WasmMemory): unknown {
  const abort = (): void => {
    throw new Error("a kernel aborted");
  };
  return new wasm.Instance(module, { env: { memory, abort } }).exports;
}
