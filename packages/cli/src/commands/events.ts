// What happened, and what happens.

import type { Client, EventFilter } from '@holdfast/client'
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
  summary: 'show what happened, newest last, and go on with --watch',
  options: [
    { flags: '-w, --watch', summary: 'go on as it happens; a broken stream is taken up where it broke' },
    { flags: '--subject <name>', summary: 'about one thing only: its name or uid' },
    { flags: '--type <type>', summary: 'of one type only, for example deployment.unschedulable' },
    {
      flags: '--severity <severity>',
      summary: 'of one severity only',
      choices: ['info', 'warning', 'error'],
    },
    {
      flags: '--limit <number>',
      summary: 'how many of the past, at most 500 (default: 100)',
      form: PAGE_SIZE,
    },
    OUTPUT_OPTION,
  ],
  examples: [
    ['holdfast events --subject web', 'What happened to web.'],
    ['holdfast events --watch --severity error', 'Every error from now on.'],
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
    // Before the first event there is nothing to go on from but the beginning.
    return watch(terminal, client, filter, page.value.nextCursor ?? '0-0', form)
  },
}

function filterOf({ text }: Invocation): EventFilter {
  const [subject, type, severity] = ['subject', 'type', 'severity'].map(text)
  return {
    ...(subject === undefined ? {} : { subject }),
    ...(type === undefined ? {} : { type }),
    ...(severity === undefined ? {} : { severity }),
  }
}

/** One line each; JSON as one object a line, so that it can be read as it comes. */
async function watch(
  terminal: Terminal,
  client: Client,
  filter: EventFilter,
  after: string,
  form: string | undefined,
): Promise<ExitCode> {
  const { EVENT_COLUMNS } = await import('../resources/events.ts')
  for await (const news of client.followEvents({ filter, after })) {
    if (news.kind === 'failed') return printFailure(terminal, news.failure)
    if (news.kind === 'resuming') report(terminal, `resuming: ${news.reason}`)
    else if (news.kind === 'truncated') report(terminal, 'some of what happened is kept no more')
    else if (form === 'json') print(terminal, JSON.stringify({ ...news.event, cursor: news.cursor }))
    else if (form === 'name') print(terminal, `event/${news.event.id}`)
    else {
      const options = { nowMs: terminal.now(), wide: form === 'wide', header: false, ...outArea(terminal) }
      terminal.out(`${tableLines(EVENT_COLUMNS, [news.event], options).join('\n')}\n`)
    }
  }
  return EXIT.interrupted
}
