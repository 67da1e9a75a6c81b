/** The state of one rate limit's bucket, as the algorithm that was passed in wants it. */
export interface RateBucket {
  readonly state: string;
  readonly forgetAtMs: number;
}
