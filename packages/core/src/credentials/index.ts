export { detectCredential } from './detect-credential.ts'
export { describeHidden, describeReceived, safeField, safeKey } from './redact.ts'
