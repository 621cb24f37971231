// The ways in which a line of a source, a unit or a script can be broken: a condition is negated, a constant changed, a
// statement dropped, a word altered.

import { extname } from 'node:path'

export interface Mutation {
  readonly what: string
  /** The whole line after the mutation. */
  readonly line: string
}

/** Finds nothing if it does not apply to the line. */
type Mutator = (line: string) => Mutation | undefined

const replacing =
  (what: string, found: RegExp, by: string | ((...groups: string[]) => string)): Mutator =>
  (line) => {
    const changed = typeof by === 'string' ? line.replace(found, by) : line.replace(found, by)
    return changed === line ? undefined : { what, line: changed }
  }

/** Twice the number, plus one: no number stays as it is. */
const anotherNumber = (text: string): string => String(2 * Number(text.replaceAll('_', '')) + 1)

const CONDITIONS: readonly Mutator[] = [
  replacing('negate the condition', /\bif \((.*)\)(?= |$)/, 'if (!($1))'),
  replacing('negate the comparison', / === /, ' !== '),
  replacing('negate the comparison', / !== /, ' === '),
  replacing('negate the comparison', / < /, ' >= '),
  replacing('negate the comparison', / > /, ' <= '),
  replacing('negate the comparison', / <= /, ' > '),
  replacing('negate the comparison', / >= /, ' < '),
  replacing('or instead of and', / && /, ' || '),
  replacing('and instead of or', / \|\| /, ' && '),
  replacing('true instead of false', /\bfalse\b/, 'true'),
  replacing('false instead of true', /\btrue\b/, 'false'),
]
const CONSTANTS: readonly Mutator[] = [
  replacing('another number', /(?<![\w.$'"-])\d[\d_]*(?![\w.$])/, anotherNumber),
  replacing('another text', /'([^'\\]+)'/, `'$1 altered'`),
]
const STATEMENT = /^\s*(?:(?:await|void) )?[\w.]+(?:\(.*\)| (?:\+|\?\?)?= .*[^\s({[,=>?:|&+]);?$/
const dropStatement: Mutator = (line) =>
  STATEMENT.test(line) && !/^\s*(?:return|export|const|let|if|for|switch|super|case)\b/.test(line)
    ? { what: 'drop the statement', line: '' }
    : undefined

const OF_SOURCES: readonly Mutator[] = [...CONDITIONS, ...CONSTANTS, dropStatement]
const OF_UNITS: readonly Mutator[] = [
  replacing('another value', /^([A-Z]\w+=.*?)([\w./@-]+)$/, '$1$2x'),
  replacing('another directive', /^([A-Z]\w+)(?==)/, '$1X'),
  (line) => (/^[A-Z]\w+=/.test(line) ? { what: 'drop the directive', line: '' } : undefined),
]
const OF_SCRIPTS: readonly Mutator[] = [
  replacing('negate the condition', /^(\s*)if (?!!)/, '$1if ! '),
  replacing('or instead of and', / && /, ' || '),
  replacing('and instead of or', / \|\| /, ' && '),
  replacing('another number', /(?<![\w.$'"/-])\d+(?![\w.$/])/, anotherNumber),
  replacing('another word', /(?<=\s)([a-z][\w./-]{2,})(?=\s|$)/, '$1-altered'),
  (line) =>
    /^\s*[a-z][\w-]*\s.*[^\\|&{(]$/.test(line) &&
    !/^\s*(?:if|for|while|case|elif|else|then|done|fi|esac|function|local)\b/.test(line)
      ? { what: 'drop the command', line: '' }
      : undefined,
]

/** Comments, imports, declarations of types and log lines: no behavior depends on them. */
const WITHOUT_BEHAVIOR =
  /^\s*(?:\/\/|\/?\*|#|import\b|export \*|export \{|export type|type |interface |readonly |\} from )|\b(?:log|logger)\b.*\.(?:debug|info|warn|error)\(/
/** How long something waits is decided by no test, because tests do not read the clock. */
const WAIT = /_MS\b|_SECONDS\b|Ms:|Seconds:/

/** All mutations of a line of a file; none if the line has no behavior. */
export function mutationsOf(path: string, line: string): Mutation[] {
  if (WITHOUT_BEHAVIOR.test(line)) return []
  return mutatorsFor(path).flatMap((mutate) => {
    const mutation = mutate(line)
    return mutation === undefined || (WAIT.test(line) && mutation.what === 'another number') ? [] : [mutation]
  })
}

function mutatorsFor(path: string): readonly Mutator[] {
  const extension = extname(path)
  if (extension === '.ts' || extension === '.tsx') return OF_SOURCES
  return extension === '.service' || extension === '.conf' ? OF_UNITS : OF_SCRIPTS
}
