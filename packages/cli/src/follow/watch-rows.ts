// `-w`: looks again every second and shows the lines that are not as they were. Ages alone are no change.

import type { Result } from '@holdfast/client'
import { EXIT, type ExitCode } from '../exit-codes.ts'
import { printFailure } from '../print/failure.ts'
import type { RowOptions, Snapshot } from '../resources/index.ts'
import { pause } from '../terminal/pause.ts'
import { print, report, type Terminal } from '../terminal/terminal.ts'

const POLL_MS = 1000

export async function watchRows(
  terminal: Terminal,
  first: Snapshot,
  look: () => Promise<Result<Snapshot>>,
  shape: Pick<RowOptions, 'form' | 'wide'>,
): Promise<ExitCode> {
  // All ages are told for one moment, so that a line differs only by what it says.
  const since = terminal.now()
  let before = first.rows({ nowMs: since, ...shape })
  while (await pause(POLL_MS, terminal.interrupted)) {
    const looked = await look()
    if (!looked.ok) return printFailure(terminal, looked.failure)
    const now = looked.value.rows({ nowMs: since, ...shape })
    const shown = looked.value.rows({ nowMs: terminal.now(), ...shape })
    for (const [name, row] of now) if (before.get(name) !== row) print(terminal, shown.get(name) ?? row)
    for (const name of before.keys()) if (!now.has(name)) report(terminal, `${name} is gone`)
    before = now
  }
  return EXIT.interrupted
}
