/** What a strict reader of text from outside returns: the value in its normal form, or what is wrong with the text. */
export type Reading<Value> = { readonly value: Value } | { readonly problem: string };
