export { locate, type Span } from './locate.ts'
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
export { checkOffline, checkSent } from './rules.ts'
export { secretSpans } from './secret-spans.ts'
