/** Work that is done before anything else, and once. */

export interface Once {
  /** Whoever asks while it is being done waits for that. A failure is told to them, and forgotten. */
  (): Promise<void>;
  /** The next who asks has it done again. */
  forget(): void;
}

export function once(work: () => Promise<void>): Once {
  let done: Promise<void> | undefined;
  const ask = (): Promise<void> => {
    done ??= work().catch((error: unknown) => {
      done = undefined;
      throw error;
    });
    return done;
  };
  return Object.assign(ask, {
    forget: () => {
      done = undefined;
    },
  });
}
