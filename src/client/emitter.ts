/** Typed events. */

/** Removes a listener. Calling it twice does no harm. */
export type Unsubscribe = () => void;

type Listener<Body> = (body: Body) => void;

/** A source of events. `Events` maps the name of an event to its body. */
export interface Subject<Events> {
  /** Calls `listener` for every event of that name until the returned function is called. */
  on<Name extends keyof Events>(name: Name, listener: (body: Events[Name]) => void): Unsubscribe;
}

export class Emitter<Events> implements Subject<Events> {
  /** `never`: the map cannot express that name and body match; the signatures of `on` and `emit` guarantee it. */
  readonly #listeners = new Map<keyof Events, Set<Listener<never>>>();

  on<Name extends keyof Events>(name: Name, listener: Listener<Events[Name]>): Unsubscribe {
    const listeners = this.#listeners.get(name) ?? new Set();
    this.#listeners.set(name, listeners);
    // One entry for each call of `on`: a function that is added twice is called twice, and removed one at a time.
    const entry: Listener<Events[Name]> = (body) => listener(body);
    listeners.add(entry);
    return () => void listeners.delete(entry);
  }

  /**
   * Calls the present listeners. An exception does not stop the others: it is thrown again in a microtask. A listener added
   * during the call gets the next event; a listener removed during the call is not called any more.
   *
   * @returns whether there is a listener of that name.
   */
  emit<Name extends keyof Events>(name: Name, body: Events[Name]): boolean {
    const listeners = this.#listeners.get(name) ?? new Set();
    const called = [...listeners];
    for (const listener of called) {
      try {
        if (listeners.has(listener)) (listener as Listener<Events[Name]>)(body);
      } catch (error) {
        queueMicrotask(() => {
          throw error;
        });
      }
    }
    return called.length > 0;
  }
}
