// Every page of docs/guides is in the table of walks, none is left out, and its links lead somewhere.

import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, test } from 'vitest'
import {
  ALONE,
  IN_SCRIPTS,
  LANES,
  ON_MACHINES,
  OTHER_PAGES,
  WITHOUT_COMMANDS,
} from '../../scripts/first-minutes/guides.ts'
import { readCommands } from '../../scripts/first-minutes/read-walk.ts'
import { PARTS } from '../../scripts/long-runs/parts.ts'

const ROOT = join(import.meta.dirname, '../..')
const FOLDER = join(ROOT, 'docs/guides')
const read = (path: string): string => readFileSync(join(ROOT, path), 'utf8')
const guideText = (guide: string): string => read(`docs/guides/${guide}.md`)

const COMMANDS_OF_LONG_RUNS = PARTS.flatMap(({ steps }) =>
  steps.flatMap((step) => ('command' in step ? [step.command] : [])),
)
const MACHINE_GUIDES = Object.values(ON_MACHINES).flat()
const WALKED = [...LANES.flat(), ...ALONE, ...MACHINE_GUIDES]

/** Commands in blocks whose output is not compared. */
const unwalkedCommands = (text: string): string[] =>
  [...text.matchAll(/^```(?:sh|bash|shell)\n([\s\S]*?)^```$/gm)].flatMap(([, block = '']) =>
    block.split('\n').filter((line) => line !== '' && !line.startsWith('#')),
  )

test('every guide is walked, run by a script, or without commands', () => {
  const guides = readdirSync(FOLDER).map((name) => name.replace(/\.md$/, ''))
  const listed = [...WALKED, ...WITHOUT_COMMANDS, ...Object.keys(IN_SCRIPTS)]
  expect(listed.toSorted()).toEqual(guides.toSorted())
})

test.each(WALKED)('%s has commands, all in console blocks', (guide) => {
  expect(readCommands(guideText(guide)).length).toBeGreaterThan(0)
  expect(unwalkedCommands(guideText(guide))).toEqual([])
})

test.each(WITHOUT_COMMANDS)('%s has no commands', (guide) => {
  expect(readCommands(guideText(guide))).toEqual([])
  expect(unwalkedCommands(guideText(guide))).toEqual([])
})

const MACHINE_WALKS = Object.entries(ON_MACHINES).flatMap(([script, guides]) =>
  guides.map((guide) => ({ script, guide })),
)

test.each(MACHINE_WALKS)('$script walks $guide, in CI or in the long run', ({ script, guide }) => {
  expect(read(script)).toMatch(new RegExp(`walk(-page\\.ts)? ${guide}\\b`))
  const inCi = read('.ci/run').includes(`${script} dist/`)
  expect(inCi || COMMANDS_OF_LONG_RUNS.some((words) => words.includes(script))).toBe(true)
})

test('every other page with commands is walked by a script, or exempt with a reason', () => {
  const pages = ['docs/design', 'docs/adr', 'docs/checklists'].flatMap((folder) =>
    readdirSync(join(ROOT, folder)).map((name) => `${folder}/${name}`),
  )
  const withCommands = ['README.md', 'CONTRIBUTING.md', ...pages]
    .filter((page) => page.endsWith('.md'))
    .filter((page) => readCommands(read(page)).length + unwalkedCommands(read(page)).length > 0)
  expect(Object.keys(OTHER_PAGES).toSorted()).toEqual(withCommands.toSorted())
})

test.each(Object.entries(OTHER_PAGES))('%s is walked by a script that exists, or exempt', (page, by) => {
  if (by.startsWith('exempt: ')) return
  expect(read(by)).toContain(page)
})

/** The words of a command up to its first option or value, and its options without values. */
function shapeOf(line: string): string {
  const [program = '', ...words] = line.replace(/ #.*/, '').split(/\s+/)
  const subcommands = words.slice(
    0,
    Math.max(
      0,
      words.findIndex((word) => !/^[a-z]+$/.test(word)),
    ),
  )
  return [program, ...subcommands].join(' ')
}

describe.each(Object.entries(IN_SCRIPTS))('%s', (guide, scripts) => {
  const commands = [
    ...readCommands(guideText(guide)).map(({ text }) => text),
    ...unwalkedCommands(guideText(guide)),
  ]

  test.each(commands)('%s is run by a script', (command) => {
    expect(scripts.some((script) => read(script).includes(shapeOf(command)))).toBe(true)
  })
})

test.each(readdirSync(FOLDER))('the links of %s lead to files and headings', (name) => {
  const links = [...guideText(name.replace(/\.md$/, '')).matchAll(/\]\((?!https?:)([^)\s]+)\)/g)]
  const broken = links.filter(([, link = '']) => !leadsSomewhere(`docs/guides/${name}`, link))
  expect(broken.map(([, link]) => link)).toEqual([])
})

function leadsSomewhere(from: string, link: string): boolean {
  const [path = '', heading] = link.split('#')
  const target = path === '' ? from : join(dirname(from), path)
  if (!existsSync(join(ROOT, target))) return false
  return heading === undefined || headingsOf(read(target)).includes(heading)
}

const headingsOf = (text: string): string[] =>
  [...text.matchAll(/^#+ (.*)$/gm)].map(([, title = '']) =>
    title
      .toLowerCase()
      .replace(/[^\w\s-]/g, '')
      .trim()
      .replace(/\s/g, '-'),
  )
