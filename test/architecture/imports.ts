/** Reads what one file takes from elsewhere, by the compiler's own parser. */
import ts from 'typescript';

export interface Import {
  readonly specifier: string;
  readonly line: number;
  /** `types` are erased by the compiler; `effects` names nothing and only runs the module. */
  readonly takes: 'types' | 'values' | 'effects';
}

export interface Scan {
  readonly imports: readonly Import[];
  /** Lines that read the environment. */
  readonly environment: readonly number[];
  /** Whether anything that it exports exists at run time. */
  readonly exportsValues: boolean;
}

export function scan(file: string, text: string): Scan {
  const source = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true);
  const imports: Import[] = [];
  const environment: number[] = [];
  const lineOf = (node: ts.Node) => source.getLineAndCharacterOfPosition(node.getStart()).line + 1;
  const visit = (node: ts.Node): void => {
    const specifier = specifierOf(node);
    if (specifier !== undefined) imports.push({ specifier, line: lineOf(node), takes: takes(node) });
    if (isEnvironment(node)) environment.push(lineOf(node));
    ts.forEachChild(node, visit);
  };
  visit(source);
  return { imports, environment, exportsValues: source.statements.some(exportsValue) };
}

function specifierOf(node: ts.Node): string | undefined {
  const named = nameOfModule(node);
  return named !== undefined && ts.isStringLiteralLike(named) ? named.text : undefined;
}

function nameOfModule(node: ts.Node): ts.Node | undefined {
  if (ts.isImportDeclaration(node) || ts.isExportDeclaration(node)) return node.moduleSpecifier;
  if (ts.isExternalModuleReference(node)) return node.expression;
  if (ts.isImportTypeNode(node) && ts.isLiteralTypeNode(node.argument)) return node.argument.literal;
  if (!ts.isCallExpression(node)) return undefined;
  const callee = node.expression;
  const loads = callee.kind === ts.SyntaxKind.ImportKeyword || (ts.isIdentifier(callee) && callee.text === 'require');
  return loads ? node.arguments[0] : undefined;
}

function takes(node: ts.Node): Import['takes'] {
  if (ts.isImportDeclaration(node) && node.importClause === undefined) return 'effects';
  return isErased(node) ? 'types' : 'values';
}

function isErased(node: ts.Node): boolean {
  if (ts.isImportTypeNode(node)) return true;
  if (ts.isExportDeclaration(node)) return node.isTypeOnly || allTypes(node.exportClause);
  if (!ts.isImportDeclaration(node)) return false;
  const clause = node.importClause;
  if (clause === undefined) return false;
  if (clause.phaseModifier === ts.SyntaxKind.TypeKeyword) return true;
  return clause.name === undefined && allTypes(clause.namedBindings);
}

function allTypes(names: ts.NamedImportBindings | ts.NamedExportBindings | undefined): boolean {
  if (names === undefined || !(ts.isNamedImports(names) || ts.isNamedExports(names))) return false;
  const elements: readonly (ts.ImportSpecifier | ts.ExportSpecifier)[] = names.elements;
  return elements.length > 0 && elements.every((element) => element.isTypeOnly);
}

function isEnvironment(node: ts.Node): boolean {
  if (ts.isPropertyAccessExpression(node)) return isProcess(node.expression) && node.name.text === 'env';
  if (ts.isElementAccessExpression(node)) {
    return isProcess(node.expression) && node.argumentExpression.getText().slice(1, -1) === 'env';
  }
  if (ts.isBindingElement(node)) {
    const declaration = node.parent.parent;
    const taken = (node.propertyName ?? node.name).getText();
    return taken === 'env' && ts.isVariableDeclaration(declaration) && isProcess(declaration.initializer);
  }
  if (!ts.isImportSpecifier(node) || (node.propertyName ?? node.name).text !== 'env') return false;
  return /^(node:)?process$/.test(specifierOf(node.parent.parent.parent) ?? '');
}

function isProcess(node: ts.Node | undefined): boolean {
  return node !== undefined && /(^|\.)process$/.test(node.getText());
}

function exportsValue(statement: ts.Statement): boolean {
  if (ts.isExportAssignment(statement)) return true;
  if (ts.isExportDeclaration(statement)) return !isErased(statement);
  if (ts.isInterfaceDeclaration(statement) || ts.isTypeAliasDeclaration(statement)) return false;
  const modifiers = ts.canHaveModifiers(statement) ? (ts.getModifiers(statement) ?? []) : [];
  return modifiers.some(({ kind }) => kind === ts.SyntaxKind.ExportKeyword);
}
