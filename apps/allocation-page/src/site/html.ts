const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/** Trusted markup; any other value is text and gets escaped. */
export class Html {
  constructor(readonly markup: string) {}
}

const write = (value: string | Html | readonly Html[]): string => {
  if (value instanceof Html) return value.markup;
  if (typeof value === 'string') return value.replace(/[&<>"']/g, (character) => ENTITIES[character]!);
  return value.map(write).join('');
};

/** Renders a template; values are escaped unless they are `Html`. */
export const html = (parts: TemplateStringsArray, ...values: (string | Html | readonly Html[])[]): Html =>
  new Html(parts.map((part, index) => (index === 0 ? part : write(values[index - 1]!) + part)).join(''));
