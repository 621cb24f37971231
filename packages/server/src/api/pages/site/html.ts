// Builds HTML in which every inserted text is escaped, so that a page cannot run scripts.

const ESCAPES: { readonly [character: string]: string } = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
}

export const escapeHtml = (text: string): string =>
  text.replaceAll(/[&<>"]/g, (character) => ESCAPES[character] ?? character)

/** A piece of HTML that is inserted as it is. */
export interface Html {
  readonly html: string
}

type Inserted = Html | string | number | undefined | readonly Html[]

/** Marks a text as HTML. The text must not contain anything that a client sent. */
export const rawHtml = (text: string): Html => ({ html: text })

/** The tag of templates: inserted strings are escaped, pieces of HTML are joined, undefined is left out. */
export function html(parts: TemplateStringsArray, ...inserted: readonly Inserted[]): Html {
  return rawHtml(parts.map((part, index) => part + render(inserted[index])).join(''))
}

function render(value: Inserted): string {
  if (value === undefined) return ''
  if (typeof value === 'string' || typeof value === 'number') return escapeHtml(String(value))
  return 'html' in value ? value.html : value.map(render).join('')
}

export const code = (text: string): Html => html`<code>${text}</code>`

export const link = (href: string, label: Html | string): Html => html`<a href="${href}">${label}</a>`

export const list = (items: readonly Html[]): Html =>
  html`<ul>${items.map((item) => html`<li>${item}</li>`)}</ul>`

/** Puts a separator between pieces of HTML. */
export const joined = (items: readonly Html[], separator: string): Html[] =>
  items.flatMap((item, index) => (index === 0 ? [item] : [html`${separator}`, item]))

/** The next step of a reader; undefined if there is nothing to do. */
export const nextStep = (next: string | undefined): Html | undefined =>
  next === undefined ? undefined : html`<p><strong>Next.</strong> ${withCode(next)}</p>`

/** A text in which `backticks` mark code. */
export const withCode = (text: string): Html => {
  const pieces = text.split(/`([^`]+)`/)
  return html`${pieces.map((piece, index) => (index % 2 === 1 ? code(piece) : html`${piece}`))}`
}
