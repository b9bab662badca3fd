/** Keeps the screen of a phone on during a call, while it is not touched. */
export class Wakefulness {
  #lock: WakeLockSentinel | null = null;
  #wanted = false;

  constructor() {
    // The browser releases it when the page is hidden.
    document.addEventListener('visibilitychange', () => void this.#take());
  }

  hold(): void {
    this.#wanted = true;
    void this.#take();
  }

  release(): void {
    this.#wanted = false;
    void this.#lock?.release().catch(() => undefined);
    this.#lock = null;
  }

  async #take(): Promise<void> {
    const isHeld = this.#lock?.released === false;
    if (!this.#wanted || isHeld || document.visibilityState !== 'visible') return;
    // Not in every browser, whatever its type says.
    const { wakeLock }: { wakeLock?: Navigator['wakeLock'] } = navigator;
    try {
      this.#lock = (await wakeLock?.request('screen')) ?? null;
      if (!this.#wanted) this.release();
    } catch {
      // A low battery, for instance: the call goes on without it.
    }
  }
}
