export { type ForeignFormat, foreignSentence } from './foreign.ts'
export { fieldsAt, hintFor, receivedText } from './hints.ts'
export { checkJobDocument, jobBody, jobDocumentShape, jobNodeFault } from './job-document.ts'
export { locate, locateRejection, type Side, type Span, writtenField } from './locate.ts'
export {
  checkNetworkDocument,
  networkBody,
  networkDocumentShape,
  networkNodeFault,
  withoutNetworks,
} from './network-document.ts'
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
  convertQuantities,
  QUANTITY_BLOCKS,
  QUANTITY_FIELDS,
  type QuantityField,
  quantityText,
  sizeBytesOf,
} from './quantities.ts'
export { checkManifest, checkOffline, checkSent, withFaultsBesideKind } from './rules.ts'

export { secretSpans } from './secret-spans.ts'
export { manifestTemplate } from './template.ts'
export {
  checkVolumeDocument,
  type DocumentKind,
  kindOf,
  nodeFault,
  volumeBody,
  volumeDocumentShape,
} from './volume-document.ts'
export {
  mountedVolumes,
  type VolumeReference,
  volumeReferences,
  withoutMounts,
  withVolumeIds,
} from './volume-names.ts'
export { manifestFields, writeManifest } from './write-manifest.ts'
