// `holdfast events`: lists past events and, with --watch, new ones as they occur.

import type { Client, EventFilter } from '@holdfast/client'
import { defined } from '@holdfast/contract'
import { PAGE_SIZE } from '../args/forms.ts'
import type { Invocation, OnlineCommand } from '../command.ts'
import { EXIT, type ExitCode } from '../exit-codes.ts'
import { outArea } from '../print/area.ts'
import { printFailure } from '../print/failure.ts'
import { OUTPUT_OPTION, printItems, refuseYamlWatch } from '../print/output.ts'
import { tableLines } from '../print/table.ts'
import { print, report, type Terminal } from '../terminal/terminal.ts'

export const events: OnlineCommand = {
  name: 'events',
  summary: 'list events, newest last; --watch follows new ones',
  options: [
    { flags: '-w, --watch', summary: 'follow new events; a broken stream resumes where it broke' },
    { flags: '--subject <name>', summary: 'only events of one resource, by name or uid' },
    { flags: '--type <type>', summary: 'only events of one type, for example deployment.unschedulable' },
    {
      flags: '--severity <severity>',
      summary: 'only events of one severity',
      choices: ['info', 'warning', 'error'],
    },
    {
      flags: '--limit <number>',
      summary: 'number of past events, at most 500 (default: 100)',
      form: PAGE_SIZE,
    },
    OUTPUT_OPTION,
  ],
  examples: [
    ['holdfast events --subject web', 'Lists the events of web.'],
    ['holdfast events --watch --severity error', 'Follows new errors.'],
  ],
  online: true,
  async run(invocation, client) {
    const { terminal, text, flag } = invocation
    const form = text('output')
    if (flag('watch') && form === 'yaml') return refuseYamlWatch(terminal)
    const filter = filterOf(invocation)
    const limit = Number(text('limit') ?? 100)
    const page = await client.pastEvents({ ...filter, limit })
    if (!page.ok) return printFailure(terminal, page.failure)
    const { events: resource } = await import('../resources/events.ts')
    if (!flag('watch') || form === undefined || form === 'table' || form === 'wide')
      await printItems(terminal, form, resource, page.value.items)
    if (!flag('watch')) return EXIT.ok
    // An empty list of events has no cursor, so the watch starts from the first stored event.
    return watch(terminal, client, filter, page.value.nextCursor ?? '0-0', form)
  },
}

function filterOf({ text }: Invocation): EventFilter {
  const [subject, type, severity] = ['subject', 'type', 'severity'].map(text)
  return defined({ subject, type, severity })
}

/** Prints one line per event. JSON is one object per line, so that a program can parse the output of a running watch. */
async function watch(
  terminal: Terminal,
  client: Client,
  filter: EventFilter,
  after: string,
  form: string | undefined,
): Promise<ExitCode> {
  const { EVENT_COLUMNS } = await import('../resources/events.ts')
  for await (const item of client.followEvents({ filter, after })) {
    if (item.kind === 'failed') return printFailure(terminal, item.failure)
    if (item.kind === 'resuming') report(terminal, `resuming: ${item.reason}`)
    else if (item.kind === 'truncated')
      report(terminal, 'some older events have expired and are missing here')
    else if (form === 'json') print(terminal, JSON.stringify({ ...item.event, cursor: item.cursor }))
    else if (form === 'name') print(terminal, `event/${item.event.id}`)
    else {
      const options = { nowMs: terminal.now(), wide: form === 'wide', header: false, ...outArea(terminal) }
      terminal.out(`${tableLines(EVENT_COLUMNS, [item.event], options).join('\n')}\n`)
    }
  }
  return EXIT.interrupted
}
