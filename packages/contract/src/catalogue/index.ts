// The public exports of the error catalogue.

export { CATALOGUE, CODES, type Code, codesIn, entryOf, isCode } from './catalogue.ts'
export { renderCodePage } from './doc-page.ts'
export type { AlternativeStatus, Capability, CatalogueEntry } from './entry.ts'
export { type FillInParameters, fillIn, placeholdersOf } from './fill-in.ts'
