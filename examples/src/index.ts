/** Services to copy from: the smallest one, and a sixth service in under 100 lines. */
export { echoService } from "./echo.ts";
export { counterPlugin, counterService, type CounterOptions } from "./counter.ts";
