/** An invalid option; the message begins with its name. */
export class OptionError extends Error {
  override readonly name = 'OptionError';
  readonly option: string;
  constructor(option: string, reason: string) {
    super(`${option}: ${reason}`);
    this.option = option;
  }
}
