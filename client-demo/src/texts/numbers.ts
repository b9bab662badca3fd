/** Formats of numbers and quantities in one language. */

export interface NumberWords {
  readonly count: (value: number) => string;
  /** "1 message", "3 messages": the word for one and the word for many. */
  readonly one: (value: number, single: string, many: string) => string;
  /** A time to wait, rounded up: "8 seconds", "3 minutes". */
  readonly duration: (milliseconds: number) => string;
  readonly milliseconds: (value: number) => string;
  readonly bitRate: (bitsPerSecond: number) => string;
  /** 0 to 1 as a percentage. */
  readonly share: (value: number) => string;
}

export function wordsOf(lang: string): NumberWords {
  const plain = new Intl.NumberFormat(lang);
  const percent = new Intl.NumberFormat(lang, { style: 'percent', maximumFractionDigits: 1 });
  const plural = new Intl.PluralRules(lang);
  const seconds = unit(lang, 'second', 'long');
  const minutes = unit(lang, 'minute', 'long');
  const fractions = unit(lang, 'millisecond', 'short');
  const megabits = unit(lang, 'megabit-per-second', 'short', 1);
  const kilobits = unit(lang, 'kilobit-per-second', 'short');
  return {
    count: (value) => plain.format(value),
    one: (value, single, many) => `${plain.format(value)} ${plural.select(value) === 'one' ? single : many}`,
    duration: (milliseconds) => {
      const wait = Math.max(1, Math.ceil(milliseconds / 1000));
      return wait < 90 ? seconds.format(wait) : minutes.format(Math.ceil(wait / 60));
    },
    milliseconds: (value) => fractions.format(Math.round(value)),
    bitRate: (bits) => (bits < 1e6 ? kilobits.format(Math.round(bits / 1e3)) : megabits.format(bits / 1e6)),
    share: (value) => percent.format(value),
  };
}

const unit = (lang: string, name: string, unitDisplay: 'long' | 'short', maximumFractionDigits = 0) =>
  new Intl.NumberFormat(lang, { style: 'unit', unit: name, unitDisplay, maximumFractionDigits });
