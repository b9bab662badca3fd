/** A planted fault in the Lua, with the example of the contract that must find it. */

export interface Mutant {
  readonly name: string;
  readonly file: string;
  readonly from: string;
  readonly to: string;
  /** The example that fails with this fault. */
  readonly caughtBy: string;
}
