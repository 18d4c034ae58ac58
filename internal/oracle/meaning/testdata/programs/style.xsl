<xsl:stylesheet version="1.0" xmlns:xsl="http://www.w3.org/1999/XSL/Transform">
  <xsl:output method="html" indent="yes"/>
  <xsl:key name="by-kind" match="item" use="@kind"/>
  <xsl:param name="limit" select="2600"/>
  <xsl:template match="/list">
    <html><body>
      <xsl:for-each select="item[generate-id() = generate-id(key('by-kind', @kind)[1])]">
        <xsl:sort select="@kind"/>
        <h2><xsl:value-of select="@kind"/> (<xsl:value-of select="count(key('by-kind', @kind))"/>)</h2>
        <p><xsl:value-of select="format-number(sum(key('by-kind', @kind)/price), '#,##0.00')"/></p>
        <ul><xsl:apply-templates select="key('by-kind', @kind)[position() &lt; 20]"><xsl:sort select="price" data-type="number" order="descending"/></xsl:apply-templates></ul>
      </xsl:for-each>
      <xsl:call-template name="count"><xsl:with-param name="n" select="$limit"/></xsl:call-template>
    </body></html>
  </xsl:template>
  <xsl:template match="item">
    <li class="{translate(@kind, 'abc', 'ABC')}"><xsl:number/>. <xsl:value-of select="concat(name, ' ', substring-after(name, '-'))"/>
      <xsl:choose><xsl:when test="price mod 3 = 0"> three</xsl:when><xsl:when test="not(following-sibling::item)"> last</xsl:when><xsl:otherwise/></xsl:choose>
      <xsl:if test="preceding-sibling::item[1]/@kind = @kind"><xsl:copy-of select="name"/></xsl:if></li>
  </xsl:template>
  <xsl:template name="count"><xsl:param name="n"/>
    <xsl:if test="$n &gt; 0"><xsl:if test="$n mod 400 = 0"><b><xsl:value-of select="$n"/></b></xsl:if>
      <xsl:call-template name="count"><xsl:with-param name="n" select="$n - 1"/></xsl:call-template></xsl:if></xsl:template>
</xsl:stylesheet>
