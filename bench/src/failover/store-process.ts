/** The coordination store of the failover bench, in a process of its own: an embedded store that serves the others. */
import { SystemClock, systemRandom } from "@keelson/runtime";
import { EmbeddedStore, StoreServer } from "@keelson/stores/embedded";

const folder = process.argv[2];
if (folder === undefined) throw new Error("usage: store-process <folder>");
const clock = new SystemClock();
const store = await EmbeddedStore.open({ folder, clock, random: systemRandom });
const server = new StoreServer({ store, clock });
await server.listen({ host: "127.0.0.1", port: 0 });
process.send?.({ url: `embedded://${server.address}` });
process.on("disconnect", () => process.exit(0));
