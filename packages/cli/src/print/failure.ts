// What is said when a call came to nothing, and the exit code of it. One clear sentence each, all entries of a rejection,
// never a stack.

import type { Failure } from '@holdfast/client'
import type { Rejection } from '@holdfast/contract'
import { EXIT, type ExitCode } from '../exit-codes.ts'
import { type Terminal, tell } from '../terminal.ts'
import { paint } from './color.ts'
import { plain } from './plain.ts'

export function tellFailure(terminal: Terminal, failure: Failure): ExitCode {
  if (failure.kind === 'rejected') for (const each of failure.rejections) tellRejection(terminal, each)
  else if (failure.kind === 'unreachable') tellError(terminal, failure.reason)
  else if (failure.kind === 'unexpected') tellError(terminal, `${failure.reason} (HTTP ${failure.status})`)
  return exitCodeOf(failure)
}

export function tellError(terminal: Terminal, sentence: string): void {
  tell(terminal, `${paint('error:', 'red', terminal.color && terminal.errIsTerminal)} ${plain(sentence)}`)
}

function tellRejection(terminal: Terminal, rejection: Rejection): void {
  tellError(terminal, `${rejection.code}${rejection.field === '' ? '' : ` at ${rejection.field}`}`)
  for (const line of rejectionDetails(rejection)) tell(terminal, `  ${line}`)
}

export function rejectionDetails({ code, received, expected, why, doc }: Rejection): string[] {
  return [
    ...(received === '' ? [] : [`received: ${plain(received)}`]),
    `accepted: ${plain(expected)}`,
    `why:      ${plain(why)}`,
    // A path alone is the page of no server: the rules were asked here.
    `more:     ${doc.startsWith('/') ? `holdfast explain ${code}` : plain(doc)}`,
  ]
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
