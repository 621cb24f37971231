// `holdfast volume divergences download`: writes data that a former primary keeps to a file. The file gets its name only
// after the whole archive has arrived.

import { defined } from '@holdfast/contract'
import type { Invocation, OnlineCommand } from '../../command.ts'
import { EXIT, type ExitCode } from '../../exit-codes.ts'
import { memory } from '../../print/amounts.ts'
import { printError, printFailure } from '../../print/failure.ts'
import { print, type Terminal } from '../../terminal/terminal.ts'
import { VOLUME_ARGUMENT, volumeName } from '../../volume-command.ts'
import { EPOCH_ARGUMENT, epochOf, NODE_OPTION } from './volume-divergences.ts'

export const volumeDivergencesDownload: OnlineCommand = {
  name: 'volume divergences download',
  summary: 'download data that a former primary of a volume keeps',
  details:
    'The file is a tar archive. Links in it are stored as links. A download that breaks leaves no file; start it again. An existing file is\nnot overwritten.',
  args: [VOLUME_ARGUMENT, EPOCH_ARGUMENT],
  options: [{ flags: '--to <file>', summary: 'the file to write' }, NODE_OPTION],
  examples: [
    [
      'holdfast volume divergences download data 1 --to lost.tar',
      'Writes the data of epoch 1; tar -tf lost.tar lists its files.',
    ],
  ],
  online: true,
  async run(invocation, client) {
    const { terminal, args, text } = invocation
    const [name, epoch, file] = [volumeName(args[0]), epochOf(args[1]), text('to')]
    if (epoch === undefined || file === undefined) return usageError(invocation, epoch === undefined)
    const [{ findVolume }, { takenReason, writeArchive }] = await Promise.all([
      import('../../resources/find-volume.ts'),
      import('../../volumes/write-archive.ts'),
    ])
    const taken = await takenReason(file)
    if (taken !== undefined) return notWritten(terminal, file, taken)
    const found = await findVolume(client, name)
    if (!found.ok) return printFailure(terminal, found.failure)
    const node = text('node')?.replace(/^node\//, '')
    const opened = await client.volumes.divergences.download(found.value.id, epoch, defined({ node }))
    if (!opened.ok) return printFailure(terminal, opened.failure)
    const written = await writeArchive(file, opened.value)
    if (typeof written === 'string') return notWritten(terminal, file, written)
    print(
      terminal,
      `volume/${found.value.name}: ${memory(written.bytes)} of epoch ${epoch} written to ${file}`,
    )
    return EXIT.ok
  },
}

function notWritten(terminal: Terminal, file: string, why: string): ExitCode {
  printError(terminal, `${file} was not written: ${why}`)
  return EXIT.error
}

function usageError(
  { terminal, args: [name = 'data', epoch = '1'] }: Invocation,
  isEpoch: boolean,
): ExitCode {
  const example = `holdfast volume divergences download ${name} ${isEpoch ? '1' : epoch} --to lost.tar`
  printError(
    terminal,
    isEpoch ? `${epoch} is not an epoch, for example: ${example}` : `no file given, for example: ${example}`,
  )
  return EXIT.usage
}
