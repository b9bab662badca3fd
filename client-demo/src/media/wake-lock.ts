/** Keeps the screen of a phone from going dark in a call: nobody touches it while they look and listen. */
export class Wakefulness {
  #lock: WakeLockSentinel | null = null;
  #wanted = false;

  constructor() {
    // The browser takes it away whenever the page is hidden.
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
      // The battery is low, or the browser does not want to: the call goes on all the same.
    }
  }
}
