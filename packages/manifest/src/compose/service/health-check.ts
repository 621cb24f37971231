// Translates `healthcheck`. Holdfast runs commands only, has floors for retries and times, and never uses the check that
// an image defines.

import type { JsonObject } from '@holdfast/contract'
import { DEFAULT_LIMITS } from '@holdfast/core/admission'
import type { Translation } from '../draft.ts'
import { mapOf, visitMembers } from '../members.ts'
import { booleanOf, durationOf, durationText, wholeOf } from '../source/scalars.ts'
import { memberOf, textOf, type Written, type WrittenMap } from '../source/written.ts'
import { hasCredential, wordsOf } from './command.ts'

const NO_TEST =
  'It has no test, so it changes the check of the image, and Holdfast does not use checks of images.'
const NO_TEST_NEXT = 'Write a test that runs in the container.'
const NO_COMMAND = 'Its test is no command line, and no list that begins with CMD or CMD-SHELL.'
const CREDENTIAL = 'Its test contains a credential, and a check is stored and shown in plain text.'
const CREDENTIAL_NEXT = 'Store the value as a secret, and read its variable in the test.'
const ONE_WORD = 'A command of one element is a command line of the shell in Holdfast.'
const ONE_WORD_NEXT = 'If the image has no shell, add an argument.'

export function translateHealthCheck(translation: Translation, node: Written) {
  const { report, draft } = translation
  const map = mapOf(report, node)
  if (map === undefined) return
  if (isDisabled(map)) return
  const test = memberOf(map, 'test')
  if (test === undefined) return report.refused(node, NO_TEST, NO_TEST_NEXT)
  const command = commandOf(translation, test)
  if (command === undefined) return report.refused(node, NO_COMMAND, NO_TEST_NEXT)
  if (hasCredential(translation.credentials, test)) return report.refused(node, CREDENTIAL, CREDENTIAL_NEXT)
  draft.fields.healthCheck = { type: 'exec', command, ...timesOf(translation, map) }
}

/** Whether the check is switched off, which is what Holdfast does without a check, too. */
function isDisabled(map: WrittenMap): boolean {
  const test = memberOf(map, 'test')
  const first = test?.kind === 'list' ? textOf(test.items[0]) : textOf(test)
  return booleanOf(textOf(memberOf(map, 'disable'))) === true || first === 'NONE'
}

function commandOf({ report }: Translation, test: Written): string[] | undefined {
  const line = textOf(test)
  if (line !== undefined) return line.trim() === '' ? undefined : [line]
  const [form, ...words] = wordsOf(test) ?? []
  const [only = ''] = words
  if (words.length === 0 || only.trim() === '') return undefined
  if (form === 'CMD-SHELL') return words.length === 1 ? words : undefined
  if (form !== 'CMD') return undefined
  if (words.length === 1) report.changed(test, 'the command runs in a shell', ONE_WORD, ONE_WORD_NEXT)
  return words
}

function timesOf(translation: Translation, map: WrittenMap): JsonObject {
  const { report } = translation
  const found: JsonObject = {}
  const time = (field: string, floorMs: number) => (member: Written) => {
    const ms = durationOf(textOf(member))
    if (ms === undefined) return report.refused(member, 'It is not a duration.')
    if (ms < floorMs)
      report.changed(
        member,
        `${field} is ${durationText(floorMs)} instead of ${durationText(ms)}`,
        `The least ${field} is ${durationText(floorMs)}.`,
      )
    found[field] = durationText(Math.max(ms, floorMs))
  }
  visitMembers(map, {
    report,
    handlers: {
      test: () => {},
      disable: () => {},
      interval: time('interval', DEFAULT_LIMITS.healthCheckIntervalFloorMs),
      timeout: time('timeout', DEFAULT_LIMITS.healthCheckTimeoutFloorMs),
      start_period: time('startPeriod', 0),
      retries: (member) => retries(translation, member, found),
    },
    refusals: {
      start_interval: ['The agent runs the first checks at growing intervals of its own, from 0.2 s on.'],
    },
  })
  return found
}

function retries({ report }: Translation, member: Written, found: JsonObject) {
  const floor = DEFAULT_LIMITS.healthCheckRetriesFloor
  const count = wholeOf(textOf(member))
  if (count === undefined) return report.refused(member, 'It is not a whole number.')
  if (count < floor)
    report.changed(
      member,
      `retries is ${floor} instead of ${count}`,
      `The least number of retries is ${floor}.`,
    )
  found.retries = Math.max(count, floor)
}
