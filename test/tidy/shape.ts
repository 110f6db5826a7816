// Rules on the shape of code: sizes, banned syntax, names, and calls that have one place.
import { posix } from 'node:path';
import ts from 'typescript';
import { isCode, isProduct, isTypeScript, lineOf, type Rule, type Source, type Violation, violationAt, visit } from './source.ts';
import { callPlaces, maxFileLines, maxFunctionLines } from './table.ts';

function judgeNodes(sources: readonly Source[], rule: string, judge: (node: ts.Node, source: Source) => string | undefined): Violation[] {
  return sources.flatMap((source) => {
    const found: Violation[] = [];
    visit(source, (node) => {
      const text = judge(node, source);
      if (text !== undefined) found.push(violationAt(source, node, rule, text));
    });
    return found;
  });
}

export const fileLength: Rule = (sources) =>
  sources.filter(isCode).flatMap((source) => {
    const lines = source.text.split('\n').length - (source.text.endsWith('\n') ? 1 : 0);
    if (lines <= maxFileLines) return [];
    return [{ path: source.path, line: maxFileLines + 1, rule: 'file length', text: `${lines} lines, at most ${maxFileLines}` }];
  });

export const functionLength: Rule = (sources) =>
  judgeNodes(sources.filter(isCode), 'function length', (node, source) => {
    if (!ts.isFunctionLike(node)) return undefined;
    const lines = lineOf(source, node.getEnd()) - lineOf(source, node.getStart()) + 1;
    return lines > maxFunctionLines ? `${lines} lines, at most ${maxFunctionLines}` : undefined;
  });

export const noAny: Rule = (sources) =>
  judgeNodes(sources.filter(isTypeScript), 'any', (node) =>
    node.kind === ts.SyntaxKind.AnyKeyword ? 'say what it is, or unknown' : undefined,
  );

export const noNonNull: Rule = (sources) =>
  judgeNodes(sources.filter(isTypeScript), 'non-null', (node) =>
    ts.isNonNullExpression(node) ? 'use present() or a cast with its reason' : undefined,
  );

export const erasable: Rule = (sources) =>
  judgeNodes(sources.filter(isTypeScript), 'erasable', (node) => {
    if (ts.isEnumDeclaration(node)) return 'no enum: an `as const` object and a type of the same name';
    if (ts.isParameter(node) && ts.isParameterPropertyDeclaration(node, node.parent)) return 'no parameter property: declare the field';
    return undefined;
  });

const bannedName = /(^|[-._])(utils?|common|helpers?|managers?|misc)([-._]|$)/i;

export const fileNames: Rule = (sources) =>
  sources.filter(isCode).flatMap((source) => {
    const bad = source.path.split('/').find((part) => bannedName.test(part));
    return bad === undefined ? [] : [{ path: source.path, line: 1, rule: 'name', text: `"${bad}" says nothing: name the idea` }];
  });

export const noImpl: Rule = (sources) =>
  judgeNodes(sources.filter(isTypeScript), 'name', (node) => {
    const named =
      ts.isClassDeclaration(node) || ts.isInterfaceDeclaration(node) || ts.isTypeAliasDeclaration(node) || ts.isFunctionDeclaration(node);
    return named && node.name !== undefined && /Impl$/.test(node.name.text) ? `${node.name.text}: say what is special about it` : undefined;
  });

/** How a call reads: `a.b` and `f` by name, `new Date()` where it asks for the present time. */
function callText(node: ts.Node): string | undefined {
  if (ts.isNewExpression(node) && node.expression.getText() === 'Date' && (node.arguments?.length ?? 0) === 0) return 'new Date()';
  if (ts.isCallExpression(node)) return node.expression.getText();
  // Handed over without a call: `wallMs: Date.now`.
  if (ts.isPropertyAccessExpression(node) && !ts.isCallExpression(node.parent)) return node.getText();
  return undefined;
}

export const callsInPlace: Rule = (sources) =>
  judgeNodes(sources.filter(isProduct), 'call', (node, source) => {
    const text = callText(node);
    if (text === undefined) return undefined;
    const banned = callPlaces.find((each) => each.call.test(text));
    return banned === undefined || banned.places.test(source.path) ? undefined : `${text} has no place here: ${banned.instead}`;
  });

export const opening: Rule = (sources) =>
  sources.filter(isCode).flatMap((source) => {
    const lines = source.text.split('\n');
    const line = lines[0]?.startsWith('#!') === true ? 1 : 0;
    if (/^(\/\/|\/\*\*?) ?\S.{14,}/.test(lines[line] ?? '')) return [];
    if (/^\/\*\*?$/.test(lines[line] ?? '') && /^ \* \S.{14,}/.test(lines[line + 1] ?? '')) return [];
    return [
      {
        path: source.path,
        line: line + 1,
        rule: 'opening',
        text: `${posix.basename(source.path)} does not open with a sentence on what it is for`,
      },
    ];
  });
