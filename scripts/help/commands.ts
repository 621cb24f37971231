// The npm scripts of this repository with one line each. A test compares them with package.json.

export interface CommandGroup {
  readonly title: string
  readonly scripts: readonly { readonly name: string; readonly what: string }[]
}

export const COMMANDS: readonly CommandGroup[] = [
  {
    title: 'While you write',
    scripts: [
      { name: 'watch', what: 'runs the unit tests of what you change, whenever you save' },
      {
        name: 'affected',
        what: 'runs the tests that your change can affect, nearest first, for 30 to 120 s',
      },
      { name: 'fix', what: 'formats the code and applies safe fixes of the linter' },
      { name: 'generate', what: 'writes the reference, the pages of the CLI and golden files' },
      { name: 'check', what: 'checks everything that needs no engine, in at most two minutes' },
    ],
  },
  {
    title: 'A platform on this machine',
    scripts: [
      { name: 'bootstrap', what: 'installs packages and builds the engines; can be repeated' },
      { name: 'dev:up', what: 'starts a whole platform, as root with five nodes' },
      { name: 'dev:down', what: 'stops that platform' },
      { name: 'dev:node', what: 'cuts the power of a node, restores it, or changes its labels' },
      { name: 'dev:dashboard', what: 'opens the sources of the dashboard, with reload, on that platform' },
    ],
  },
  {
    title: 'Single checks',
    scripts: [
      { name: 'format', what: 'finds files that are not formatted' },
      { name: 'lint', what: 'runs the linter' },
      { name: 'types', what: 'checks the types of all packages, tests and scripts' },
      { name: 'dead', what: 'finds files, exports and dependencies that nothing uses' },
      { name: 'test:unit', what: 'runs all unit tests' },
      { name: 'test:real', what: 'runs all tests with engines, without labs' },
      { name: 'test', what: 'runs all tests' },
    ],
  },
  {
    title: 'Long ones',
    scripts: [
      { name: 'long', what: 'runs every suite with larger counts and durations, then benchmarks' },
      { name: 'bench', what: 'measures how many creates per second a server stores' },
      { name: 'build:dashboard', what: 'builds the dashboard and checks the size of the first load' },
    ],
  },
  { title: 'This list', scripts: [{ name: 'help', what: 'prints this list' }] },
]
