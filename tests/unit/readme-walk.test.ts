// How commands in the README are parsed, and how their real output is compared with the documented output.

import { expect, test } from 'vitest'
import { matchesShown } from '../../scripts/first-minutes/matches-shown.ts'
import { readCommands, readFiles, readWalk } from '../../scripts/first-minutes/read-walk.ts'
import { groupsOf } from '../../scripts/first-minutes/walk.ts'

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
])('the end of a command is found: %s', (_, block, text) =>
  expect(readCommands(`\`\`\`console\n${block}\`\`\`\n`)).toEqual([{ text, shown: ['shown'] }]),
)

test('a prompt names the machine of its command', () => {
  const commands = readCommands('```console\nfra-1# a\nshown\n$ b\n```\n')
  expect(commands).toEqual([
    { text: 'a', machine: 'fra-1', shown: ['shown'] },
    { text: 'b', shown: [] },
  ])
})

test('the commands of a block may run while the last one before it still runs', () => {
  const commands = readCommands('```console\n$ a\n$ b\n```\n\n```console alongside\n# c\n```\n')
  const [a, b, c] = commands
  expect(commands.map(({ alongside }) => alongside)).toEqual([undefined, undefined, true])
  expect(groupsOf(commands)).toEqual([[a], [b, c]])
})

test('a named file is a block of YAML that begins with its name', () => {
  const text = '```yaml\n# a.yaml\nb: 1\n```\n\n```yaml\nc: 2\n```\n'
  expect(readFiles(text)).toEqual([{ name: 'a.yaml', content: 'b: 1\n' }])
})

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
    'replica 3 on acme-2\n1  acme-1  ready\n',
    true,
  ],
  ['the state of a replica', ['2  acme-2  ready'], '2  acme-2  lost\n', false],
  ['a number', ['3'], '4\n', false],
  ['how many are ready', ['3 of 3 ready'], '2 of 3 ready\n', false],
  ['versions', ['holdfast 0.1.0', 'engine 20.10.24+dfsg1'], 'holdfast 0.12.3\nengine 29.5.1\n', true],
  ['a progress', ['...', 'a: done', 'b'], 'a: 5 %\ra: 9 %\ra: done\r\nb\n', true],
  ['the version of a package', ['a_0.2.0_amd64.deb'], 'a_0.3.0_amd64.deb\n', true],
  ['the unit of a time that is no time', ['5 sheep'], '6 sheep\n', false],
  ['hashes', ['sha256:bce00d19dfda'], 'sha256:0ce1ad19dfd0\n', true],
  ['another width of columns', ['NAME  STATUS', 'a     ready'], 'NAME      STATUS\na         ready\n', true],
  ['another word', ['a  ready'], 'a  lost\n', false],
  ['a word too many', ['a  ready'], 'a  ready now\n', false],
  ['a word too few', ['a was created'], 'a created\n', false],
  ['a column too many', ['a  ready'], 'a  ready  now\n', false],
  ['a column too few', ['a  ready  now'], 'a  ready\n', false],
  ['two columns that became one', ['a  ready'], 'a ready\n', false],
  ['columns in another order', ['NAME  STATUS'], 'STATUS  NAME\n', false],
  ['a column that is cut', ['a  ...  now'], 'a  it is ready  now\n', true],
  ['columns that are cut between others', ['a  ...  now'], 'a  ready  since  now\n', true],
  ['two columns where one word is cut', ['a  is ... x  now'], 'a  is ready  for x  now\n', false],
  ['a column that is not cut', ['a  ...  now'], 'a  now\n', false],
  ['columns that are cut', ['a  ready  ...'], 'a  ready  since  now\n', true],
  ['not the columns before what is cut', ['a  ready  ...'], 'a  lost  since  now\n', false],
  ['a line that is cut in the middle', ['a ... c  d'], 'a b  c  d\n', false],
  ['a line that is part of another', ['  a'], 'a\n', false],
  ['another depth', ['  a'], '    a\n', false],
  ['a line too few between lines that are cut', ['...', 'b', '...'], 'a\nc\n', false],
  ['upper case', ['NAME'], 'name\n', false],
])('shown output is compared with printed output: %s', (_, shown, printed, same) =>
  expect(matchesShown(shown, printed)).toBe(same),
)
