// The output of the doctor: one line for each check with its remedy, or JSON for programs.

import { exitCodeOf, type Finding, type Verdict } from './finding.ts'

const MARKS: { readonly [V in Verdict]: string } = {
  ok: 'ok      ',
  warning: 'WARNING ',
  failure: 'FAILURE ',
  unobserved: 'UNKNOWN ',
}

export const printFindings = (findings: readonly Finding[]): string =>
  findings.map((finding) => `${lineOf(finding)}\n`).join('')

function lineOf({ check, verdict, text, remedy }: Finding): string {
  const cure = remedy === undefined ? '' : ` Remedy: ${remedy}`
  return `${MARKS[verdict]}${check}: ${text}${remedy === undefined ? '' : '.'}${cure}`
}

export const printJson = (findings: readonly Finding[]): string =>
  `${JSON.stringify({ exitCode: exitCodeOf(findings), findings }, undefined, 2)}\n`
