// Splits a file into the pieces that people read: comments, texts in strings, names in code, and prose. Line breaks are
// kept, so that a phrase over two lines is found and its line is known.

import { scanSource, type Token } from '@holdfast/testkit/source-tree/scan-source'

type PieceKind = 'comment' | 'text' | 'name' | 'prose'

export interface Piece {
  readonly kind: PieceKind
  readonly text: string
  /** Line number of the piece's first character, from 1. */
  readonly line: number
}

export function textPieces(path: string, content: string): Piece[] {
  if (/\.tsx?$|\.mjs$/.test(path)) return sourcePieces(content)
  return [{ kind: 'prose', text: content, line: 1 }]
}

function sourcePieces(content: string): Piece[] {
  const { comments, strings, code } = scanSource(content.replace(/^#!.*/, ''))
  return [...joinComments(comments), ...strings.map(stringPiece), ...namePieces(code)]
}

/** Joins line comments on consecutive lines to one text. */
function joinComments(comments: readonly Token[]): Piece[] {
  const pieces: { text: string; line: number; next: number }[] = []
  for (const { text, line } of comments) {
    const bare = text.startsWith('//')
      ? text.replace(/^\/\/+ ?/, '')
      : text.replace(/^[ \t]*\/?\*+\/? ?/gm, '')
    const last = pieces.at(-1)
    const next = line + text.split('\n').length
    if (text.startsWith('//') && last !== undefined && last.next === line) {
      last.text += `\n${bare}`
      last.next = next
    } else pieces.push({ text: bare, line, next: text.startsWith('//') ? next : -1 })
  }
  return pieces.map(({ text, line }) => ({ kind: 'comment', text, line }))
}

/** Classifies a string: without a space it is a name, such as a key, a code or a file. */
function stringPiece({ text, line }: Token): Piece {
  const inner = text.replace(/^['"`}]|(?:['"`]|\$\{)$/g, '')
  return { kind: /\s/.test(inner.trim()) ? 'text' : 'name', text: inner, line }
}

function namePieces(code: string): Piece[] {
  return code
    .split('\n')
    .flatMap((text, index) =>
      [...text.matchAll(/[A-Za-z_$][\w$]*/g)].map(
        ([name]): Piece => ({ kind: 'name', text: name, line: index + 1 }),
      ),
    )
}

/** Splits a name into words: `tellStatus`, `tell-status` and `TELL_STATUS` are the words tell and status. */
export const wordsOf = (name: string): string[] =>
  name
    .replace(/([a-z0-9])([A-Z])/g, '$1 $2')
    .replace(/([A-Z]+)([A-Z][a-z])/g, '$1 $2')
    .split(/[^A-Za-z]+/)
    .filter((word) => word !== '')
    .map((word) => word.toLowerCase())
