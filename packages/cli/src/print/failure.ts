// Prints a failed API call, including every error of a rejection, and maps the failure to an exit code.

import type { Failure } from '@holdfast/client'
import type { Rejection } from '@holdfast/contract'
import { EXIT, type ExitCode } from '../exit-codes.ts'
import { report, type Terminal } from '../terminal/terminal.ts'
import { errArea, indented, type PrintArea } from './area.ts'
import { paint } from './color.ts'
import { plain } from './plain.ts'
import { hang } from './table.ts'

export function printFailure(terminal: Terminal, failure: Failure): ExitCode {
  if (failure.kind === 'rejected') for (const each of failure.rejections) printRejection(terminal, each)
  else if (failure.kind === 'unreachable') printError(terminal, withNextStep(failure.reason))
  else if (failure.kind === 'unexpected') printError(terminal, `${failure.reason} (HTTP ${failure.status})`)
  return exitCodeOf(failure)
}

export function printError(terminal: Terminal, sentence: string): void {
  const { columns, colored } = errArea(terminal)
  for (const line of hang(`${paint('error:', 'red', colored)} `, plain(sentence), columns))
    report(terminal, line)
}

/** An untrusted certificate is the one connection error that a flag can fix, so the message names the flag. */
const withNextStep = (reason: string): string =>
  /(?:signed by an unknown authority|self-signed)$/.test(reason)
    ? `${reason}; use --ca-file to name the authorities to trust`
    : reason

function printRejection(terminal: Terminal, rejection: Rejection): void {
  printError(terminal, `${rejection.code}${rejection.field === '' ? '' : ` at ${rejection.field}`}`)
  for (const line of rejectionDetails(rejection, indented(errArea(terminal), 2)))
    report(terminal, `  ${line}`)
}

/** A rejection as it is printed for a manifest. */
export interface ShownRejection extends Rejection {
  /** The next step that the manifest suggests. */
  readonly hint?: string | undefined
  /** True if an earlier rejection printed the same details; then only the hint is printed. */
  readonly isRepeated?: boolean
}

export function rejectionDetails(
  { code, received, expected, why, doc, hint, isRepeated }: ShownRejection,
  { columns, colored }: PrintArea,
): string[] {
  const hints = hint === undefined ? [] : [['hint:     ', hint] as const]
  const details = [
    ...(received === '' ? [] : [['received: ', received] as const]),
    ...hints,
    ['accepted: ', expected] as const,
    ['why:      ', why] as const,
    // A documentation path without a host comes from the offline rules, so there is no server page to link to.
    ['more:     ', doc.startsWith('/') ? `holdfast explain ${code}` : doc] as const,
  ]
  return (isRepeated ? hints : details).flatMap(([label, text]) =>
    hang(paint(label, 'gray', colored), plain(text), columns),
  )
}

const BY_CODE: { readonly [code: string]: ExitCode } = { quota_exceeded: EXIT.rejected }
const BY_STATUS: { readonly [status: number]: ExitCode } = {
  401: EXIT.unreachable,
  404: EXIT.notFound,
  409: EXIT.conflict,
  412: EXIT.conflict,
  429: EXIT.unreachable,
  503: EXIT.unreachable,
}

export function exitCodeOf(failure: Failure): ExitCode {
  switch (failure.kind) {
    case 'interrupted':
      return EXIT.interrupted
    case 'rejected':
      return BY_CODE[failure.rejections[0]?.code ?? ''] ?? BY_STATUS[failure.status] ?? EXIT.rejected
    default:
      return EXIT.unreachable
  }
}
