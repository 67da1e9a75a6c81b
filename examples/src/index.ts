/** Services to copy from: the smallest one, and a sixth service with all that belongs to one. */
export { echoService } from "./echo.ts";
export { counterPlugin } from "./counter-plugin.ts";
export { counterService, type CounterOptions } from "./counter.ts";
