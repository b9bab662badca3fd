/** An option that makes no sense. */
export class OptionError extends Error {
  override readonly name = 'OptionError';
  readonly option: string;
  constructor(option: string, reason: string) {
    super(`${option}: ${reason}`);
    this.option = option;
  }
}
