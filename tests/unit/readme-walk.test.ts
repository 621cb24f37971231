// How commands in the README are parsed, and how their real output is compared with the documented output.

import { expect, test } from 'vitest'
import { matchesShown } from '../../scripts/first-minutes/matches-shown.ts'
import { readCommands, readWalk } from '../../scripts/first-minutes/read-walk.ts'

const DOCUMENT = `# Title

## Other

\`\`\`console
$ not this
\`\`\`

## Walk

\`\`\`console
$ A=$(date)
$ curl --json '{
  "a": 1
}' | cat
one

two
\`\`\`

\`\`\`yaml
$ nor: this
\`\`\`

## Next
`

test('a walk consists of the commands of a section, with the output shown below each', () => {
  expect(readWalk(DOCUMENT, 'Walk')).toEqual([
    { text: 'A=$(date)', shown: [] },
    { text: `curl --json '{\n  "a": 1\n}' | cat`, shown: ['one', '', 'two'] },
  ])
  expect(() => readWalk(DOCUMENT, 'Away')).toThrow('there is no section "Away"')
})

test.each([
  ['a here-document', "$ cat > a <<'END'\nit's\n# b\nEND\nshown\n", "cat > a <<'END'\nit's\n# b\nEND"],
  ['an open double quote', '$ a "b\nc"\nshown\n', 'a "b\nc"'],
  ['a quote in quotes', `$ a "it's"\nshown\n`, `a "it's"`],
  ['a backslash', '$ a \\\n  b\nshown\n', 'a \\\n  b'],
  ['the prompt of root', '# a\nshown\n', 'a'],
  ['the prompt of a machine', 'fra-1# a\nshown\n', 'a'],
])('the end of a command is found: %s', (_, block, text) =>
  expect(readCommands(`\`\`\`console\n${block}\`\`\`\n`)).toEqual([{ text, shown: ['shown'] }]),
)

test('a console block that begins without a command is a mistake', () => {
  expect(() => readCommands('```console\noutput\n```\n')).toThrow('begins without a command: output')
})

test.each([
  ['the same', ['a', 'b'], 'a\nb\n', true],
  ['a line too many', ['a'], 'a\nb\n', false],
  ['a line too few', ['a', 'b'], 'a\n', false],
  ['another order', ['a', 'b'], 'b\na\n', false],
  ['output of npm is ignored', ['a'], 'npm warn old\n\n> dev:up\n> node x.ts\n\na\n', true],
  ['lines that are cut', ['a', '...', 'c'], 'a\nb\nb\nc\n', true],
  ['nothing that is cut', ['a', '...', 'c'], 'a\nc\n', true],
  ['not what is cut, but what follows', ['a', '...', 'c'], 'a\nb\nd\n', false],
  ['a line that is cut', ['id: ..., end'], 'id: 12, end\n', true],
  ['letters that mean something in a pattern', ['a.c (x) [1]'], 'abc (x) [1]\n', false],
  [
    'addresses and ids',
    ['10.99.1.1:80 dep_01M7FN9KN3X7DB0ZYYWHZSCC3V'],
    '10.99.2.1:9 dep_01M7FN9KN3X7DB0ZYYWHZSCC3W\n',
    true,
  ],
  [
    'ids of tenants',
    ['tenant/5d4f3614-4713-4fd4-bbc8-be46e661d101 configured'],
    'tenant/994168f3-c416-4beb-b3a6-96beda2184bb configured\n',
    true,
  ],
  ['durations', ['  2.9 s  up', 'age 1m3s'], '12.0 s  up\nage 59s\n', true],
  [
    'names of machines',
    ['replica 1 on acme-1', '2  acme-2  ready'],
    'replica 3 on acme-2\n1 acme-1 ready\n',
    true,
  ],
  ['the state of a replica', ['2  acme-2  ready'], '2  acme-2  lost\n', false],
  ['a number', ['3'], '4\n', false],
  ['how many are ready', ['3 of 3 ready'], '2 of 3 ready\n', false],
])('shown output is compared with printed output: %s', (_, shown, printed, same) =>
  expect(matchesShown(shown, printed)).toBe(same),
)
