// `-w`: requests the listed resources every second and prints changed rows. A row whose age alone changed is not printed.

import type { Result } from '@holdfast/client'
import { EXIT, type ExitCode } from '../exit-codes.ts'
import { outArea } from '../print/area.ts'
import { printFailure } from '../print/failure.ts'
import type { RowOptions, Snapshot } from '../resources/index.ts'
import { pause } from '../terminal/pause.ts'
import { print, report, type Terminal } from '../terminal/terminal.ts'

const POLL_MS = 1000

export async function watchRows(
  terminal: Terminal,
  first: Snapshot,
  read: () => Promise<Result<Snapshot>>,
  form: Pick<RowOptions, 'form' | 'wide'>,
): Promise<ExitCode> {
  const { columns } = outArea(terminal)
  const shape = { ...form, columns }
  // All rows are compared with ages computed for one fixed time, so that a growing age is not a change.
  const since = terminal.now()
  let before = first.rows({ nowMs: since, ...shape })
  while (await pause(POLL_MS, terminal.interrupted)) {
    const listed = await read()
    if (!listed.ok) return printFailure(terminal, listed.failure)
    const now = listed.value.rows({ nowMs: since, ...shape })
    const shown = listed.value.rows({ nowMs: terminal.now(), ...shape })
    for (const [name, row] of now) if (before.get(name) !== row) print(terminal, shown.get(name) ?? row)
    for (const name of before.keys()) if (!now.has(name)) report(terminal, `${name} was removed`)
    before = now
  }
  return EXIT.interrupted
}
