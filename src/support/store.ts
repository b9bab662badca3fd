/** How a store fails, and what its health is. */

/** The store does not answer. Whether the command has taken effect is not known. */
export class StoreUnavailable extends Error {
  override readonly name = 'StoreUnavailable';
}

/** The store may have lost its state, and waits for the nodes to restore what they hold. The command has had no effect. */
export class StoreRecovering extends StoreUnavailable {
  readonly retryAfterMs: number;

  constructor(retryAfterMs: number) {
    super('the store has lost its state, and the nodes are restoring it');
    this.retryAfterMs = retryAfterMs;
  }
}

/** What this node holds has not been restored yet: what is missing may be what it has to give. */
export class NodeBehind extends StoreRecovering {}

export interface StoreHealth {
  /**
   * `up`: it does what it is asked. `recovering`: it answers commands, but messages of other nodes may be missing. `down`: it
   * does not answer, or refuses to write.
   */
  readonly state: 'up' | 'recovering' | 'down';
  /**
   * Why it is not up: the first word of Redis' refusal, such as READONLY or OOM, the code of a driver's error, such as
   * SQLITE_BUSY or 55P03, or what is missing. While it is up: what it would lack after a loss of its connection. Neither
   * addresses nor values.
   */
  readonly reason?: string;
  /** What it was asked for when it failed, where it is asked for several things: `lease room`. */
  readonly work?: string;
  /** Since when, in milliseconds since 1970. */
  readonly since: number;
}

/** Codes of drivers and of Node, and first words of Redis: nothing that a user, an address or a statement could be. */
const CODE = /^[A-Z0-9][A-Z0-9_]{2,40}$/;

/** How node-redis names the classes of Redis' replies. */
const ERROR_REPLY = /^(Error|Simple|Blob)(Reply|Error)$/;

/** The reason of a failure as the health shows it. */
export function failureReason(error: unknown): string {
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    const code: unknown = Reflect.get(cause, 'code');
    if (typeof code === 'string' && CODE.test(code)) return code;
    // An error reply of Redis has its code as the first word. Other messages may begin with anything.
    const word = ERROR_REPLY.test(cause.constructor.name) ? (/^\S+/.exec(cause.message)?.[0] ?? '') : '';
    if (CODE.test(word)) return word;
    if (cause instanceof TypeError || cause instanceof RangeError || cause instanceof SyntaxError) return cause.name;
  }
  return 'no reply';
}
