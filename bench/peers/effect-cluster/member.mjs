// A member of an @effect/cluster fleet, for the failover bench: `member.mjs runner|client <name> <settings as JSON>`.
// A runner answers pings to the entities it was given; the client pings all of them without end, and tells its parent who answered.
// It runs in a folder of its own, where its packages are installed when a peer is asked for: they are no dependencies of ours.
import { ClusterSchema, Entity } from "@effect/cluster";
import { NodeClusterSocket } from "@effect/platform-node";
import { Rpc } from "@effect/rpc";
import { PgClient } from "@effect/sql-pg";
import { Duration, Effect, Layer, Option, Redacted, Schema } from "effect";
import { RunnerAddress } from "@effect/cluster";

const [role, name, json] = process.argv.slice(2);
const { postgres, port, entities, sharding } = JSON.parse(json);

const Probe = Entity.make("Probe", [Rpc.make("Ping", { success: Schema.String })]).annotateRpcs(
  ClusterSchema.Persisted,
  false,
);

const address = role === "runner" ? Option.some(RunnerAddress.make("127.0.0.1", port)) : Option.none();
const cluster = NodeClusterSocket.layer({
  clientOnly: role === "client",
  storage: "sql",
  shardingConfig: {
    runnerAddress: address,
    ...Object.fromEntries(Object.entries(sharding).map(([key, ms]) => [key, Duration.millis(ms)])),
  },
}).pipe(Layer.provide(PgClient.layer({ url: Redacted.make(postgres), maxConnections: 10 })));

/** One entity: ask, tell, ask again. Whatever fails is asked again; who answers is what counts. */
const follow = (client, entity) =>
  client(entity)
    .Ping()
    .pipe(
      Effect.timeout("2 seconds"),
      Effect.flatMap((runner) =>
        Effect.sync(() => process.send({ entity, runner, at: performance.timeOrigin + performance.now() })),
      ),
      Effect.catchAllCause(() => Effect.void),
      Effect.zipRight(Effect.sleep("50 millis")),
      Effect.forever,
    );

const program =
  role === "runner"
    ? Layer.launch(
        Probe.toLayer({ Ping: () => Effect.succeed(name) }, { maxIdleTime: "1 hour" }).pipe(
          Layer.provide(cluster),
        ),
      )
    : Effect.gen(function* () {
        const client = yield* Probe.client;
        yield* Effect.forEach(
          Array.from({ length: entities }, (_, i) => `entity-${i}`),
          (entity) => Effect.fork(follow(client, entity)),
        );
        yield* Effect.never;
      }).pipe(Effect.scoped, Effect.provide(cluster));

// The parent is gone: nobody reads what this says.
process.on("disconnect", () => process.exit(0));
Effect.runPromise(program).catch((error) => {
  process.stderr.write(`${String(error)}\n`);
  process.exit(1);
});
