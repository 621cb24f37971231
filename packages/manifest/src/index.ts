export { type ForeignFormat, foreignSentence } from './foreign.ts'
export { fieldsAt, hintFor, receivedText } from './hints.ts'
export { locate, locateRejection, type Side, type Span, writtenField } from './locate.ts'
export {
  type FileText,
  type Manifest,
  type ParsedSource,
  type Position,
  parseSource,
  positionOf,
  type Source,
  type SyntaxFault,
} from './parse-source.ts'

export {
  type Conversion,
  QUANTITY_BLOCKS,
  QUANTITY_FIELDS,
  type QuantityField,
  quantityText,
} from './quantities.ts'
export { checkManifest, checkOffline, checkSent, withFaultsBesideKind } from './rules.ts'

export { secretSpans } from './secret-spans.ts'
