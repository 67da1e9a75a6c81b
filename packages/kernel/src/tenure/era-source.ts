/** Where the fleet's next era number comes from. A number is never handed out twice, by anyone, for ever. */
export interface EraSource {
  /** A number greater than `above` that was never used. `serverTimeMs` is the store's clock, for sources that have nothing better. */
  next(above: number, serverTimeMs: number): Promise<NextEra>;
}

export interface NextEra {
  readonly era: number;
  /** Nobody can hold anything from before (a new fleet whose every node lives in the store's own process): no wait is needed. */
  readonly fresh: boolean;
}
