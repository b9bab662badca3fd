/** Typed events with nothing around them. */

/** What takes back a listener; calling it twice does nothing more. */
export type Unsubscribe = () => void;

type Listener<Body> = (body: Body) => void;

/** What a listener can be added to. `Events` maps the name of an event to its body. */
export interface Subject<Events> {
  /** Calls `listener` for every event of that name until the returned function is called. */
  on<Name extends keyof Events>(name: Name, listener: (body: Events[Name]) => void): Unsubscribe;
}

export class Emitter<Events> implements Subject<Events> {
  /** The listeners of a name take the bodies of that name: `on` and `emit` see to it. */
  readonly #listeners = new Map<keyof Events, Set<Listener<never>>>();

  on<Name extends keyof Events>(name: Name, listener: Listener<Events[Name]>): Unsubscribe {
    const listeners = this.#listeners.get(name) ?? new Set();
    this.#listeners.set(name, listeners);
    // One function may be added twice, and is taken back once for each time.
    const entry: Listener<Events[Name]> = (body) => listener(body);
    listeners.add(entry);
    return () => void listeners.delete(entry);
  }

  /**
   * A listener that throws is its owner's fault and keeps nobody else from hearing. One that is added meanwhile hears
   * of the next event; one that is taken back, of none.
   *
   * @returns whether anybody listens to that name.
   */
  emit<Name extends keyof Events>(name: Name, body: Events[Name]): boolean {
    const listeners = this.#listeners.get(name) ?? new Set();
    const heard = [...listeners];
    for (const listener of heard) {
      try {
        if (listeners.has(listener)) (listener as Listener<Events[Name]>)(body);
      } catch (error) {
        queueMicrotask(() => {
          throw error;
        });
      }
    }
    return heard.length > 0;
  }
}
